import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair } from 'jose';
import { vi } from 'vitest';

/** What the provider knows about its users, by sign-in name. */
const people: Record<string, Record<string, unknown>> = {
  adult: { birthdate: '1990-05-04', address: { country: 'FR' }, loa: 'high' },
  teen: { birthdate: `${new Date().getUTCFullYear() - 17}-01-01`, address: { country: 'DE' } },
};

export const clientId = 'svc';
export const clientSecret = 'a secret of forty characters, for tests only';

/** All providers of a process share the key, because it costs 0.2 s of processor time. */
let pair: ReturnType<typeof generateKeyPair> | undefined;

/** Starts a standard OpenID provider in this process. Its development pages accept any sign-in name. */
export async function startProvider(redirectUri: string) {
  pair ??= generateKeyPair('RS256', { extractable: true });
  const { privateKey } = await pair;
  const key = { ...(await exportJWK(privateKey)), use: 'sig', alg: 'RS256', kid: 'test' };
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const issuer = `http://localhost:${(http.address() as AddressInfo).port}`;
  // The provider warns about what only matters in production.
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const { default: Provider } = await import('oidc-provider');
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
      },
    ],
    jwks: { keys: [key] },
    cookies: { keys: ['test'] },
    claims: { openid: ['sub'], profile: ['birthdate'], address: ['address'], loa: ['loa'] },
    scopes: ['openid', 'profile', 'address', 'loa'],
    ttl: { Interaction: 600, Session: 600, Grant: 600, IdToken: 600, AccessToken: 600 },
    findAccount: async (_context, accountId) => ({
      accountId,
      claims: async () => ({ sub: accountId, ...people[accountId] }),
    }),
  });
  warn.mockRestore();
  const handle = provider.callback();
  http.on('request', (request, response) => void handle(request, response));
  return {
    issuer,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

const decode = (text: string) => text.replaceAll('&amp;', '&');

/**
 * Signs in at the provider as a browser would, from its authorization endpoint.
 * @param as the sign-in name, or undefined to cancel
 * @returns the callback address
 */
export async function signIn(authorizationUrl: string, as: string | undefined): Promise<string> {
  const { origin } = new URL(authorizationUrl);
  const cookies = new Map<string, string>();
  let request: { url: string; body?: URLSearchParams } = { url: authorizationUrl };

  for (let steps = 0; steps < 12; steps += 1) {
    if (!request.url.startsWith(origin)) return request.url;
    const response = await fetch(request.url, {
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
      ...(request.body ? { method: 'POST', body: request.body } : {}),
    });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    const html = await response.text();
    const location = response.headers.get('location');
    if (location) {
      request = { url: new URL(location, request.url).href };
      continue;
    }
    const [, abort] = /href="([^"]*\/abort)"/.exec(html) ?? [];
    const [, action] = /action="([^"]*)"/.exec(html) ?? [];
    const [, prompt = ''] = /name="prompt" value="(\w+)"/.exec(html) ?? [];
    if (!action || !abort) throw new Error(`no form at ${request.url}: ${response.status} ${html}`);
    request =
      as === undefined
        ? { url: new URL(decode(abort), request.url).href }
        : {
            url: new URL(decode(action), request.url).href,
            body: new URLSearchParams({ prompt, login: as, password: 'x' }),
          };
  }
  throw new Error('the provider leads in circles');
}
