import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { ApiError } from '../../../server/platform/errors.ts';
import { createHttpServer, type HttpServer } from '../../../server/platform/http/server.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { startTracing, type Tracing } from '../../../server/platform/telemetry/tracing.ts';
import { attributesOf, type Collector, sentSoon, startCollector } from '../trace-collector.ts';

let collector: Collector;
let tracing: Tracing;
let app: HttpServer;
let port: number;
beforeAll(async () => {
  collector = await startCollector();
  vi.stubEnv('OTEL_BSP_SCHEDULE_DELAY', '50');
  tracing = await startTracing({ endpoint: collector.endpoint, roles: ['api'] });
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: 1 });
  tracing.observeRequests(app);
  app.get('/things/:id', async () => 'a thing');
  app.get('/refused', async () => {
    throw new ApiError('invalid_token');
  });
  app.get('/away', async () => {
    throw new ApiError('service_unavailable', { retryAfter: 5 });
  });
  app.get('/broken', async () => {
    throw new Error('a fault');
  });
  app.get('/slow', async ({ raw }) => {
    await once(raw.socket, 'close');
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.address() as { port: number });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await app.close();
  await tracing.stop();
  collector.close();
});

/** The span of one request, with its name. */
async function spanOf(path: string, { method = 'GET', headers = {} } = {}) {
  const known = collector.spans().length;
  const sent = request({ port, path, method, headers }).end();
  sent.on('error', () => undefined);
  if (path === '/slow') setTimeout(() => sent.destroy(), 200);
  else (await once(sent, 'response'))[0].resume();
  await expect.poll(() => collector.spans().length, sentSoon).toBe(known + 1);
  const [span] = collector.spans().slice(-1);
  if (!span) throw new Error('no span');
  return { name: span.name, status: span.status.code ?? 0, ...attributesOf(span) };
}

/** Codes of a span's status. */
const [unset, failed] = [0, 2];

describe('the OpenTelemetry span of a request', () => {
  it('has the template of the route as its name and url.path, without an identifier of the requested path', async () => {
    const span = await spanOf('/things/ses_0123456789?code=svc_code_x');
    expect(span).toEqual({
      name: 'GET /things/:id',
      status: unset,
      'http.request.method': 'GET',
      'http.route': '/things/:id',
      'http.response.status_code': 200,
      'network.protocol.version': '1.1',
      'svc.request_id': expect.stringMatching(/^req_/),
      'url.path': '/things/:id',
      'url.scheme': 'http',
    });
  });

  it('has the scheme that a trusted proxy names in X-Forwarded-Proto, or http if that is unknown', async () => {
    const span = await spanOf('/things/1', { headers: { 'x-forwarded-proto': 'https' } });
    expect(span).toMatchObject({ 'url.scheme': 'https' });
    const odd = await spanOf('/things/1', { headers: { 'x-forwarded-proto': 'gopher' } });
    expect(odd).toMatchObject({ 'url.scheme': 'http' });
  });

  it.each([
    ['/hvf-sessions/ses_0123456789', '/hvf-sessions/*'],
    ['/.well-known/nothing', '/.well-known/nothing'],
    ['/verify/svc_code_x/%61/../x1', '/verify/*/*/*/*'],
    ['/', '/'],
  ])(
    'has no http.route for the unknown path %s, and the url.path %s, in which * replaces possible ids',
    async (path, shown) => {
      const span = await spanOf(path);
      expect(span).toMatchObject({ name: 'GET', 'url.path': shown, 'http.response.status_code': 404 });
      expect(span).not.toHaveProperty(['http.route']);
    },
  );

  it('has the method _OTHER if OpenTelemetry does not list the method', async () => {
    expect(await spanOf('/things/1', { method: 'PROPFIND' })).toMatchObject({
      name: 'HTTP',
      'http.request.method': '_OTHER',
      'http.request.method_original': 'PROPFIND',
      'http.response.status_code': 405,
    });
  });

  it('has no error status if the answer is 4xx, and names the error code in svc.error', async () => {
    const span = await spanOf('/refused');
    expect(span).toMatchObject({
      status: unset,
      'svc.error': 'invalid_token',
      'http.response.status_code': 401,
    });
    expect(span).not.toHaveProperty(['error.type']);
  });

  it.each([
    ['service_unavailable', 503, '/away'],
    ['server_error', 500, '/broken'],
  ])('has an error status and the error.type %s if the answer is %i', async (type, status, path) => {
    expect(await spanOf(path)).toMatchObject({
      status: failed,
      'error.type': type,
      'http.response.status_code': status,
    });
  });

  it('has an error.type and no status code if the caller disconnected before the answer', async () => {
    const span = await spanOf('/slow');
    expect(span).toMatchObject({ 'error.type': 'client_disconnected' });
    expect(span).not.toHaveProperty(['http.response.status_code']);
  });
});
