import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { createPartner, redirectUri, type TestPartner } from '../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { newStart, startUrl } from '../journey/pkce.ts';

let server: TestServer;
let partner: TestPartner;
let urls: Record<'public' | 'admin' | 'health', string>;
beforeAll(async () => {
  const health = await freePort();
  server = await startTestServer({ env: { SVC_HEALTH_PORT: String(health) } });
  partner = await createPartner(server);
  urls = { public: server.publicUrl, admin: server.adminUrl, health: `http://127.0.0.1:${health}` };
});
afterAll(() => server.stop());

const operator = { authorization: `Bearer ${adminToken}` };
const form = { method: 'POST', body: new URLSearchParams({ a: 'b' }) };
const page = { headers: { accept: 'text/html' } };

/** Returns the path of a valid `/verify/start` request, which is answered by a redirect. */
function startPath(): string {
  const { codeChallenge, state } = newStart();
  const { clientId } = partner;
  const { baseUrl } = server;
  const url = startUrl({ baseUrl, clientId, redirectUri, scope: 'age_18_plus', state, codeChallenge });
  return url.slice(baseUrl.length);
}

describe('the headers "X-Content-Type-Options: nosniff" and X-Request-Id', () => {
  it.each<[listener: keyof typeof urls, status: number, path: string, init?: RequestInit]>([
    ['public', 200, '/healthz'],
    ['public', 200, '/readyz'],
    ['public', 200, '/.well-known/jwks.json'],
    ['public', 200, '/.well-known/oauth-authorization-server'],
    ['public', 200, '/.well-known/jwks.json', { method: 'HEAD' }],
    ['public', 200, '/docs/'],
    ['public', 308, '/docs'],
    ['public', 200, '/docs/openapi.json'],
    ['public', 200, '/docs/site.css'],
    ['public', 404, '/docs/nothing'],
    ['public', 308, '/docs/guides'],
    ['public', 404, '/docs/guides/nothing'],
    ['public', 200, '/', page],
    ['public', 404, '/'],
    ['public', 200, '/llms.txt'],
    ['public', 302, 'a valid /verify/start'],
    ['public', 400, '/verify/start'],
    ['public', 400, '/verify/start', page],
    ['public', 404, '/verify/session/ses_x', page],
    ['public', 404, '/verify/assets/nothing.css'],
    ['public', 404, '/nowhere'],
    ['public', 404, '/%ZZ'],
    ['public', 405, '/api/oauth/token'],
    ['public', 405, '/api/oauth/token', { method: 'OPTIONS' }],
    ['public', 400, '/api/oauth/token', form],
    ['public', 401, '/api/oauth/userinfo'],
    ['public', 400, '/api/oauth/revoke', form],
    ['public', 401, '/api/verify/hvf-session/ses_x'],
    ['public', 401, '/api/integrations/storefront/verify/exchange', form],
    ['public', 401, '/api/checkbox/resolve', form],
    ['admin', 200, '/healthz'],
    ['admin', 200, '/readyz'],
    ['admin', 200, '/metrics', { headers: operator }],
    ['admin', 200, '/ops', { headers: operator }],
    ['admin', 401, '/ops'],
    ['admin', 200, '/trpc/operators.whoami', { headers: operator }],
    ['admin', 401, '/trpc/operators.whoami'],
    ['admin', 404, '/trpc/no.such', { headers: operator }],
    ['admin', 404, '/nowhere'],
    ['health', 200, '/healthz'],
    ['health', 200, '/readyz'],
    ['health', 401, '/metrics'],
    ['health', 404, '/nowhere'],
  ])(
    'are sent by the %s listener with the status %i for the request %s',
    async (listener, status, path, init) => {
      const url = urls[listener] + (path === 'a valid /verify/start' ? startPath() : path);
      const response = await fetch(url, { redirect: 'manual', ...init });
      await response.arrayBuffer();
      expect(response.status).toBe(status);
      expect(response.headers.get('x-content-type-options')).toBe('nosniff');
      expect(response.headers.get('x-request-id')).toMatch(/^req_/);
    },
  );
});

describe('a Link header to the explanation of an error', () => {
  it.each<[code: string, path: string, init?: RequestInit]>([
    ['route_not_found', '/nowhere'],
    ['route_not_found', '/%ZZ'],
    ['method_not_allowed', '/api/oauth/token'],
    ['invalid_request', '/api/oauth/token', form],
    ['invalid_token', '/api/oauth/userinfo'],
    ['missing_api_key', '/api/verify/hvf-session/ses_x'],
    ['missing_api_key', '/api/wallet'],
    ['invalid_request', '/verify/start'],
  ])('is sent with the error %s, for the request %s', async (code, path, init) => {
    const response = await fetch(urls.public + path, init);
    await response.arrayBuffer();
    expect(response.headers.get('x-svc-error')).toBe(code);
    expect(response.headers.get('link')).toBe(`<${server.baseUrl}/docs/errors#${code}>; rel="help"`);
  });

  it('is sent with the answer to a malformed HTTP request', async () => {
    const socket = connect(Number(new URL(urls.public).port), '127.0.0.1');
    socket.end('nonsense\r\n\r\n');
    const answer = (await socket.toArray()).join('');
    expect(answer).toContain(`link: <${server.baseUrl}/docs/errors#malformed_http>; rel="help"\r\n`);
  });

  it('is absent from successful answers, and from errors of the admin listener, which has no documentation', async () => {
    for (const url of [`${urls.public}/healthz`, `${urls.admin}/nowhere`]) {
      const response = await fetch(url);
      await response.arrayBuffer();
      expect(response.headers.get('link')).toBeNull();
    }
  });
});
