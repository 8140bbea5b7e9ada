import type { Account } from './account.ts';

/** A call of the public API, with a command that repeats it. */
export interface Call {
  /** A shell command that repeats the call. It reads secrets from variables. */
  curl: string;
  status: number;
  /** The parsed JSON body; undefined if the response had no body. */
  body: Record<string, unknown> | undefined;
}

/** Puts a text in quotes if it has characters that a shell would interpret. */
const quoted = (text: string) =>
  /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** Sends a request. @param curl the command that repeats it */
async function call(curl: string, url: string, init: RequestInit = {}): Promise<Call> {
  const response = await fetch(url, init);
  const text = await response.text();
  const body = text === '' ? undefined : (JSON.parse(text) as Record<string, unknown>);
  return { curl, status: response.status, body };
}

/** Returns the command that posts a form. It has a variable in place of the client secret. */
const formCurl = (url: string, fields: Record<string, string>) =>
  [
    `curl -s ${url}`,
    ...Object.entries(fields).map(([name, value]) =>
      name === 'client_secret'
        ? `  --data-urlencode client_secret="$CLIENT_SECRET"`
        : `  --data-urlencode ${quoted(`${name}=${value}`)}`,
    ),
  ].join(' \\\n');

/** Makes the calls of a partner's server (interface, section 4) to the service at `baseUrl`. */
export function createPublicApi(baseUrl: string) {
  async function postForm(path: string, fields: Record<string, string>): Promise<Call> {
    const url = `${baseUrl}${path}`;
    const init = { method: 'POST', body: new URLSearchParams(fields) };
    return call(formCurl(url, fields), url, init);
  }

  /** Calls with a bearer token. The command has the name of a variable in place of the token. */
  function get(path: string, { variable, secret }: { variable: string; secret: string }): Promise<Call> {
    const url = `${baseUrl}${path}`;
    const curl = `curl -s ${url} \\\n  -H "Authorization: Bearer $${variable}"`;
    return call(curl, url, { headers: { authorization: `Bearer ${secret}` } });
  }

  return {
    startUrl(
      { clientId, redirectUri }: Account,
      verification: { state: string; codeChallenge: string; scope: string },
    ) {
      const url = new URL(`${baseUrl}/verify/start`);
      url.search = new URLSearchParams({
        client_id: clientId,
        redirect_uri: redirectUri,
        state: verification.state,
        scope: verification.scope,
        code_challenge: verification.codeChallenge,
        code_challenge_method: 'S256',
      }).toString();
      return url.href;
    },

    exchange: ({ clientId, clientSecret, redirectUri }: Account, code: string, codeVerifier: string) =>
      postForm('/api/oauth/token', {
        grant_type: 'authorization_code',
        code,
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uri: redirectUri,
        code_verifier: codeVerifier,
      }),

    userinfo: (token: string) => get('/api/oauth/userinfo', { variable: 'ACCESS_TOKEN', secret: token }),

    revoke: ({ clientId, clientSecret }: Account, token: string) =>
      postForm('/api/oauth/revoke', { token, client_id: clientId, client_secret: clientSecret }),

    querySession: ({ apiKey }: Account, sessionId: string) =>
      get(`/api/verify/hvf-session/${sessionId}`, { variable: 'API_KEY', secret: apiKey }),
  };
}
export type PublicApi = ReturnType<typeof createPublicApi>;
