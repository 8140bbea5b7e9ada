import { createPartner, redirectUri, type TestPartner } from '../../harness/partner.ts';
import { quickFetch } from '../../harness/quick-fetch.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { newStart, startUrl } from '../../journey/pkce.ts';

export interface Source {
  name: string;
  issuer: string;
  [setting: string]: unknown;
}

/** Starts the service with OpenID providers as its sources. */
export function startWithSources(port: number, sources: readonly Source[]): Promise<TestServer> {
  const list = sources.map((source) => ({
    label: `The ${source.name}`,
    clientId: 'svc',
    ...source,
  }));
  const env = { SVC_PORT: String(port), SVC_OIDC_SOURCES: JSON.stringify(list) };
  return startTestServer({ env });
}

export const partnerOf = (service: TestServer, source: string) =>
  createPartner(service, { client: { sources: [source] } });

/** Returns the complete redirect address of a response. */
function locationOf({ headers }: Pick<Response, 'headers'>, at: string): string | undefined {
  const location = headers.get('location');
  return location === null ? undefined : new URL(location, at).href;
}

/** Acts as a browser without JavaScript, with cookies and a present page. */
export function openPages(service: Pick<TestServer, 'baseUrl'>) {
  const cookies = new Map<string, string>();

  async function request(url: string, body?: Record<string, string>) {
    const response = await quickFetch(url, {
      headers: {
        accept: 'text/html',
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(body ? { origin: service.baseUrl } : {}),
      },
      ...(body ? { method: 'POST', body: new URLSearchParams(body) } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return response;
  }

  /** Follows redirects within the service. */
  async function open(url: string, body?: Record<string, string>) {
    let response = await request(url, body);
    let at = url;
    for (let hops = 0; hops < 8; hops += 1) {
      const location = locationOf(response, at);
      if (!location?.startsWith(service.baseUrl)) break;
      at = location;
      response = await request(at);
    }
    const html = await response.text();
    const refresh = /^0; url=(.*)$/.exec(response.headers.get('refresh') ?? '')?.[1];
    const left = locationOf(response, at) ?? refresh;
    const hidden = [...html.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    return {
      status: response.status,
      at,
      /** Seconds until the page reloads. */
      refreshAfter: Number.parseInt(response.headers.get('refresh') ?? '', 10),
      html,
      /** The link to the provider. */
      provider: /<a class="button primary" href="([^"]*)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '',
      fields: Object.fromEntries(
        hidden.map(([, name = '', value = '']) => [name, value.replaceAll('&amp;', '&')]),
      ),
      /** The parameters that the partner received. */
      returned: left ? Object.fromEntries(new URL(left).searchParams) : undefined,
    };
  }

  return {
    cookies,
    open,
    /** Leads from the partner's link to the page with the provider's link. */
    async start(partner: TestPartner, scope = 'age_18_plus identity_verified country') {
      const { state, codeChallenge, codeVerifier } = newStart();
      const { clientId } = partner;
      const { baseUrl } = service;
      const consent = await open(startUrl({ baseUrl, clientId, redirectUri, scope, state, codeChallenge }));
      const page = await open(consent.at, { ...consent.fields, decision: 'accept' });
      return { page, codeVerifier, sessionId: /ses_[0-9A-Za-z]{22}/.exec(consent.at)?.[0] ?? '' };
    },
  };
}
