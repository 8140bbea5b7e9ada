import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';

/** The faults of a provider, or of an impostor. A provider without any of them behaves correctly. */
export interface Misdeed {
  /** Changes the claims of the ID token. */
  idToken?: (claims: JWTPayload) => JWTPayload;
  /** Signs with an unpublished key. */
  foreignKey?: boolean;
  /** Parameters that replace those of the callback. */
  redirect?: Record<string, string>;
  /** The status of the token endpoint in place of 200. */
  tokenStatus?: number;
  /** Delays the token endpoint's answer until this resolves. */
  heldBack?: Promise<void>;
  userinfo?: Record<string, unknown>;
  /** Shows a page whose policy lets its form lead only to this service, as strict providers do. */
  strictForm?: boolean;
  /** Gives no answer at its discovery endpoint. */
  away?: boolean;
}

const makePairs = async () => ({
  published: await generateKeyPair('RS256'),
  foreign: await generateKeyPair('RS256'),
});
/** All providers of a process share the keys, because each costs 0.2 s of processor time. */
let pairs: ReturnType<typeof makePairs> | undefined;

/** A provider without pages. It redirects each user back as `person`, with the faults that the test sets. */
export async function startHostileProvider() {
  pairs ??= makePairs();
  const { published, foreign } = await pairs;
  const key = { ...(await exportJWK(published.publicKey)), use: 'sig', alg: 'RS256', kid: 'k' };
  const requests = new Map<string, URLSearchParams>();
  let misdeed: Misdeed = {};
  let issuer = '';
  let exchanges = 0;

  const metadata = () => ({
    issuer,
    authorization_endpoint: `${issuer}/auth`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    userinfo_endpoint: `${issuer}/userinfo`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    authorization_response_iss_parameter_supported: true,
  });

  async function idToken(request: URLSearchParams): Promise<string> {
    const at = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      sub: 'person',
      aud: request.get('client_id') ?? '',
      nonce: request.get('nonce') ?? '',
      iat: at,
      exp: at + 300,
      birthdate: '1990-01-01',
    };
    const { privateKey } = misdeed.foreignKey ? foreign : published;
    return new SignJWT(misdeed.idToken?.(claims) ?? claims)
      .setProtectedHeader({ alg: 'RS256', kid: 'k' })
      .sign(privateKey);
  }

  async function bodyOf(request: IncomingMessage): Promise<URLSearchParams> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    return new URLSearchParams(Buffer.concat(chunks).toString());
  }

  function send(response: ServerResponse, status: number, value: unknown): void {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
  }

  function strictPage({ searchParams }: URL, response: ServerResponse): void {
    const back = new URL(searchParams.get('redirect_uri') ?? '').origin;
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': `form-action 'self' ${back}`,
    });
    response.end('<!doctype html><form method="post"><button>Sign in</button></form>');
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return misdeed.away ? void response.destroy() : send(response, 200, metadata());
      case '/jwks':
        return send(response, 200, { keys: [key] });
      case '/auth': {
        if (misdeed.strictForm && request.method === 'GET') return strictPage(url, response);
        const code = `code-${requests.size}`;
        requests.set(code, url.searchParams);
        const back = new URL(url.searchParams.get('redirect_uri') ?? '');
        const usual = { code, state: url.searchParams.get('state') ?? '', iss: issuer };
        back.search = new URLSearchParams({ ...usual, ...misdeed.redirect }).toString();
        return void response.writeHead(302, { location: back.href }).end();
      }
      case '/token': {
        exchanges += 1;
        await misdeed.heldBack;
        const code = (await bodyOf(request)).get('code') ?? '';
        const asked = requests.get(code);
        requests.delete(code);
        if (misdeed.tokenStatus) return send(response, misdeed.tokenStatus, { error: 'server_error' });
        if (!asked) return send(response, 400, { error: 'invalid_grant' });
        const token = { access_token: 'at', token_type: 'Bearer', id_token: await idToken(asked) };
        return send(response, 200, token);
      }
      default:
        return send(response, 200, misdeed.userinfo ?? { sub: 'person' });
    }
  }

  const http = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  issuer = `http://localhost:${(http.address() as AddressInfo).port}`;

  return {
    issuer,
    behave(now: Misdeed) {
      misdeed = now;
    },
    /** Returns the number of exchanges that the token endpoint was asked for. */
    exchanges: () => exchanges,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}
