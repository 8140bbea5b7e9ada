import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { errorAnchor } from '../../contracts/errors.ts';
import { operations } from '../../contracts/openapi/operations.ts';
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
    ['public', 200, 'GET /healthz'],
    ['public', 200, 'GET /readyz'],
    ['public', 200, 'GET /.well-known/jwks.json'],
    ['public', 200, 'GET /.well-known/oauth-authorization-server'],
    ['public', 200, 'HEAD /.well-known/jwks.json'],
    ['public', 200, 'GET /docs/'],
    ['public', 308, 'GET /docs'],
    ['public', 200, 'GET /docs/openapi.json'],
    ['public', 200, 'GET /docs/site.css'],
    ['public', 404, 'GET /docs/nothing'],
    ['public', 308, 'GET /docs/guides'],
    ['public', 404, 'GET /docs/guides/nothing'],
    ['public', 200, 'GET /'],
    ['public', 200, 'GET /llms.txt'],
    ['public', 302, 'GET /verify/start with valid parameters'],
    ['public', 400, 'GET /verify/start without parameters'],
    ['public', 400, 'GET /verify/start without parameters, with Accept: text/html', page],
    ['public', 404, 'GET /verify/session/ses_x with Accept: text/html', page],
    ['public', 404, 'GET /verify/assets/nothing.css'],
    ['public', 404, 'GET /nowhere'],
    ['public', 404, 'GET /%ZZ'],
    ['public', 405, 'GET /api/oauth/token'],
    ['public', 405, 'OPTIONS /api/oauth/token'],
    ['public', 400, 'POST /api/oauth/token with an unknown field', form],
    ['public', 401, 'GET /api/oauth/userinfo without a token'],
    ['public', 400, 'POST /api/oauth/revoke with an unknown field', form],
    ['public', 401, 'GET /api/verify/hvf-session/ses_x without an API key'],
    ['public', 401, 'POST /api/integrations/storefront/verify/exchange without a signature', form],
    ['public', 401, 'POST /api/checkbox/resolve without an API key', form],
    ['admin', 200, 'GET /healthz'],
    ['admin', 200, 'GET /readyz'],
    ['admin', 200, "GET /metrics with an operator's token", { headers: operator }],
    ['admin', 200, "GET /ops with an operator's token", { headers: operator }],
    ['admin', 401, 'GET /ops without a token'],
    ['admin', 200, "GET /trpc/operators.whoami with an operator's token", { headers: operator }],
    ['admin', 401, 'GET /trpc/operators.whoami without a token'],
    ['admin', 404, "GET /trpc/no.such with an operator's token", { headers: operator }],
    ['admin', 404, 'GET /nowhere'],
    ['health', 200, 'GET /healthz'],
    ['health', 200, 'GET /readyz'],
    ['health', 401, 'GET /metrics without a token'],
    ['health', 404, 'GET /nowhere'],
  ])('are sent by the %s listener with its %i answer to %s', async (listener, status, request, init) => {
    const [method = '', path = ''] = request.split(' ');
    const url = urls[listener] + (request.endsWith('valid parameters') ? startPath() : path);
    const response = await fetch(url, { method, redirect: 'manual', ...init });
    await response.arrayBuffer();
    expect(response.status).toBe(status);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('x-request-id')).toMatch(/^req_/);
  });
});

describe('X-SVC-Error, and a Link header to the explanation of the error,', () => {
  it.each<[anchor: string, path: string, init?: RequestInit]>([
    ['route_not_found', 'GET /nowhere'],
    ['route_not_found', 'GET /%ZZ'],
    ['method_not_allowed', 'GET /api/oauth/token'],
    ['invalid_request', 'POST /api/oauth/token with an unknown field', form],
    ['invalid_token', 'GET /api/oauth/userinfo without a token'],
    ['missing_api_key', 'GET /api/verify/hvf-session/ses_x without an API key'],
    ['missing_api_key', 'GET /api/wallet without an API key'],
    ['invalid_request-1', 'GET /verify/start without parameters'],
    ['invalid_request-1', 'GET /verify/start?a=%FF'],
    ['invalid_request-1', 'GET /verify/start with Accept: text/html', page],
  ])('are sent with %s in answer to %s', async (anchor, request, init) => {
    const [method = '', path = ''] = request.split(' ');
    const response = await fetch(urls.public + path, { method, ...init });
    await response.arrayBuffer();
    expect(response.headers.get('x-svc-error')).toBe(anchor.replace(/-1$/, ''));
    expect(response.headers.get('link')).toBe(`<${server.baseUrl}/docs/errors#${anchor}>; rel="help"`);
  });

  it('have an entry on that page, in the format of the endpoint, for each error of each endpoint', async () => {
    const page = await (
      await fetch(`${urls.public}/docs/errors`, { headers: { accept: 'text/html' } })
    ).text();
    const [, oauth = '', others = ''] = /id="oauth-endpoints"(.*)id="everything-else"(.*)/s.exec(page) ?? [];
    for (const { errors, errorFormat } of Object.values(operations)) {
      for (const { code } of errors) {
        const isOauth = errorFormat === 'oauth';
        const entry = `id="${errorAnchor(code, isOauth)}"`;
        expect([code, errorFormat, (isOauth ? oauth : others).includes(entry)]).toEqual([
          code,
          errorFormat,
          true,
        ]);
      }
    }
  });

  it('are sent with the answer to a malformed HTTP request', async () => {
    const socket = connect(Number(new URL(urls.public).port), '127.0.0.1');
    socket.end('nonsense\r\n\r\n');
    const answer = (await socket.toArray()).join('');
    expect(answer).toContain(`link: <${server.baseUrl}/docs/errors#malformed_http>; rel="help"\r\n`);
    expect(answer).toContain('x-svc-error: malformed_http\r\n');
  });

  it('are absent from successful answers, and the link from errors of the admin listener, which has no documentation', async () => {
    for (const url of [`${urls.public}/healthz`, `${urls.admin}/nowhere`]) {
      const { ok, headers } = await fetch(url);
      expect(headers.get('link')).toBeNull();
      expect(headers.has('x-svc-error')).toBe(!ok);
    }
  });
});
