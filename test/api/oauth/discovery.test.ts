import { calculateJwkThumbprint, type JWK } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
const base = 'https://verify.example/svc';

beforeAll(async () => {
  server = await startTestServer({ env: { SVC_BASE_URL: `${base}/` } });
});
afterAll(() => server.stop());

const call = (path: string, init?: RequestInit) => fetch(`${server.publicUrl}${path}`, init);

describe.each(['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'])(
  'GET %s',
  (wellKnown) => {
    it('answers 200 at both addresses of an issuer with a path (RFC 8414 3.1 and 5), and at no other', async () => {
      const metadata: unknown = await (await call(wellKnown)).json();
      for (const path of [`${wellKnown}/svc`, `/svc${wellKnown}`]) {
        const response = await call(path);
        expect(response.status, path).toBe(200);
        expect(response.headers.get('cache-control')).toBe('public, max-age=300');
        expect(await response.json()).toEqual(metadata);
      }
      for (const path of [`${wellKnown}/other`, `/other${wellKnown}`])
        expect((await call(path)).status, path).toBe(404);
    });
  },
);

describe('GET /.well-known/openid-configuration', () => {
  it('answers 200 with the other document and what OpenID Connect Discovery 3 adds', async () => {
    const metadata = (await (await call('/.well-known/oauth-authorization-server')).json()) as {
      scopes_supported: string[];
    };
    const configuration = (await (await call('/.well-known/openid-configuration')).json()) as object;
    expect(configuration).toEqual({
      ...metadata,
      scopes_supported: ['openid', ...metadata.scopes_supported],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
      acr_values_supported: ['basic', 'document', 'biometric'],
      claims_supported: expect.arrayContaining(['sub', 'nonce', 'at_hash', 'age_18_plus', 'country']),
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
    });
  });
});

describe('GET /.well-known/oauth-authorization-server', () => {
  it('answers 200 with all endpoints, scopes, response types and ways of client authentication (RFC 8414)', async () => {
    const response = await call('/.well-known/oauth-authorization-server');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=300');
    const methods = ['client_secret_post', 'client_secret_basic'];
    expect(await response.json()).toEqual({
      issuer: base,
      authorization_endpoint: `${base}/verify/start`,
      token_endpoint: `${base}/api/oauth/token`,
      userinfo_endpoint: `${base}/api/oauth/userinfo`,
      revocation_endpoint: `${base}/api/oauth/revoke`,
      jwks_uri: `${base}/.well-known/jwks.json`,
      scopes_supported: [
        'age_16_plus',
        'age_18_plus',
        'age_21_plus',
        'identity_verified',
        'country',
        'assurance_level',
      ],
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: methods,
      revocation_endpoint_auth_methods_supported: methods,
      authorization_response_iss_parameter_supported: true,
    });
  });
});

describe('GET /.well-known/jwks.json', () => {
  it('answers 200 with the public parts of the signing keys only', async () => {
    const response = await call('/.well-known/jwks.json');
    expect(response.status).toBe(200);
    const { keys } = (await response.json()) as { keys: JWK[] };
    const text = expect.any(String) as string;
    const [ec = {}, rsa = {}] = keys;
    const about = async (key: JWK) => ({ use: 'sig', kid: await calculateJwkThumbprint(key) });
    expect(keys).toEqual([
      { kty: 'EC', crv: 'P-256', alg: 'ES256', ...(await about(ec)), x: text, y: text },
      { kty: 'RSA', alg: 'RS256', ...(await about(rsa)), n: text, e: text },
    ]);
  });
});

describe('the paths below /.well-known', () => {
  it('answer 404 in the general error format to GET webfinger', async () => {
    const response = await call('/.well-known/webfinger');
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ success: false, error: 'No such path' });
  });

  it.each([
    '/.well-known/jwks.json',
    '/.well-known/oauth-authorization-server',
    '/.well-known/openid-configuration',
    '/docs/openapi.json',
  ])('let scripts of any site read %s', async (path) => {
    expect((await call(path)).headers.get('access-control-allow-origin')).toBe('*');
    const preflight = await call(path, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'GET' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-allow-origin')).toBe('*');
    expect(preflight.headers.get('access-control-allow-methods')).toBe('GET, HEAD');
  });

  it.each([
    '/api/oauth/token',
    '/api/oauth/userinfo',
    '/api/oauth/revoke',
    '/verify/start',
    '/api/verify/hvf-session/x',
  ])('let no script of another site read %s', async (path) => {
    for (const method of ['OPTIONS', 'GET', 'POST']) {
      const { headers } = await call(path, { method, headers: { origin: 'https://shop.example' } });
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('answer 405 in the general error format to POST jwks.json', async () => {
    const response = await call('/.well-known/jwks.json', { method: 'POST' });
    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('OPTIONS, GET, HEAD');
    expect(await response.json()).toEqual({ success: false, error: 'Method not allowed' });
  });
});
