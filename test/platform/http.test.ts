import { EventEmitter, once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ApiError } from '../../server/platform/errors.ts';
import { acceptForms } from '../../server/platform/http/parameters.ts';
import {
  type ArrivalTimes,
  arrivalTimes,
  createHttpServer,
  type HttpServer,
} from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { within } from '../harness/time-limits.ts';

let app: HttpServer;
let url: string;
let port: number;

beforeAll(async () => {
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  acceptForms(app);
  app.get('/things/:id', async () => 'a thing');
  const Thing = z.object({
    name: z.string().min(1).max(9),
    kind: z.literal('big').optional(),
    parts: z.array(z.string()).min(2).optional(),
    size: z.enum(['s', 'm']).optional(),
  });
  app.post('/things', { schema: { body: Thing } }, async () => ({}));
  app.get('/unknown-error', async () => {
    throw new Error('password=hunter2');
  });
  app.get('/thrown-text', async () => {
    throw 'hunter2';
  });
  app.get('/refused', async () => {
    throw new ApiError('rate_limited', { retryAfter: 7, detail: 'hunter2' });
  });
  app.get('/wrong-answer', { schema: { response: { 200: z.object({ n: z.number() }) } } }, async () => ({
    n: 'hunter2' as never,
  }));
  await app.listen({ host: '127.0.0.1', port: 0 });
  ({ port } = app.server.address() as { port: number });
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => app.close());

async function call(path: string, init?: RequestInit) {
  const response = await fetch(`${url}${path}`, init);
  return { status: response.status, headers: response.headers, body: await response.json() };
}
const failure = (error: string) => ({ success: false, error });

describe('every answer of a listener', () => {
  it('has a different request id in X-Request-Id', async () => {
    const ids = await Promise.all(
      ['/things/1', '/nowhere', '/refused', '/%ZZ'].map(async (path) =>
        (await fetch(`${url}${path}`)).headers.get('x-request-id'),
      ),
    );
    for (const id of ids) expect(id).toMatch(/^req_[0-9A-Za-z]{22}$/);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('has a new request id even if the caller sends one', async () => {
    const { headers } = await call('/refused', { headers: { 'x-request-id': 'mine', 'request-id': 'mine' } });
    expect(headers.get('x-request-id')).not.toBe('mine');
  });
});

describe('a listener', () => {
  it('answers 404 to an unknown path, and 405 with Allow to a wrong method', async () => {
    expect(await call('/nowhere?x=1')).toMatchObject({ status: 404, body: failure('No such path') });
    const wrong = await call('/things/7', { method: 'DELETE' });
    expect(wrong).toMatchObject({ status: 405, body: failure('Method not allowed') });
    expect(wrong.headers.get('allow')).toBe('GET, HEAD');
    for (const { headers } of [await call('/nowhere'), wrong])
      expect(headers.get('cache-control')).toBe('no-store');
  });

  it('answers 404 to a path whose percent-encoding is malformed', async () => {
    expect(await call('/%ZZ')).toMatchObject({ status: 404, body: failure('No such path') });
  });

  it('answers 200 to a path of 8,000 characters', async () => {
    const response = await fetch(`${url}/things/${'x'.repeat(8_000)}`);
    expect([response.status, await response.text()]).toEqual([200, 'a thing']);
  });

  it('answers 500 with a standard text if an endpoint throws an unexpected error', async () => {
    for (const path of ['/unknown-error', '/thrown-text', '/wrong-answer']) {
      expect(await call(path)).toMatchObject({ status: 500, body: failure('Internal server error') });
    }
  });

  it('answers with the status, text and headers of the ApiError that an endpoint throws', async () => {
    const { status, headers, body } = await call('/refused');
    expect([status, headers.get('retry-after'), body]).toEqual([429, '7', failure('Rate limit exceeded')]);
  });

  it.each([
    ['is missing', {}, 'name is required'],
    ['has a wrong type', { name: 7 }, 'name must be of type string'],
    ['is a list instead of a text', { name: ['a', 'b'] }, 'name must be given once'],
    ['is empty', { name: '' }, 'name must not be empty'],
    ['is too long', { name: 'x'.repeat(10) }, 'name must have at most 9 characters'],
    ['has another value than the only allowed one', { name: 'x', kind: 'small' }, 'kind must be big'],
    ['is a list with too few items', { name: 'x', parts: ['a'] }, 'parts must have at least 2 items'],
    [
      'has a value that is not in the list of allowed ones',
      { name: 'x', size: 'l' },
      /^size must be one of /,
    ],
  ])('answers 400 and names the field if a field of the body %s', async (_, fields, text) => {
    const init = {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
    };
    expect(await call('/things', init)).toMatchObject({
      status: 400,
      body: failure(typeof text === 'string' ? text : expect.stringMatching(text)),
    });
  });

  it.each([
    ['has the type text/plain', 'text/plain', 'name=x', /^Content-Type must be/],
    ['is not valid JSON', 'application/json', '{', 'The request body is not valid JSON'],
    [
      'is larger than 64 KiB',
      'application/json',
      JSON.stringify({ name: 'x'.repeat(65_536) }),
      'The request body is larger than 64 KiB',
    ],
  ])('answers 400 if the body of a request %s', async (_, type, body, text) => {
    const init = { method: 'POST', headers: { 'content-type': type }, body };
    expect(await call('/things', init)).toMatchObject({
      status: 400,
      body: failure(typeof text === 'string' ? text : expect.stringMatching(text)),
    });
  });
});

describe('a request that arrives too slowly', () => {
  const arrival = { headers: 300, request: 600, check: 50 };

  /**
   * Sends `text`, then a byte every 20 ms.
   * @returns the milliseconds until the server closes the connection
   */
  async function drip(text: string, settings: { arrival?: ArrivalTimes }): Promise<number> {
    const slow = createHttpServer({ logger: createLogger('silent'), trustProxy: false, ...settings });
    slow.post('/upload', async () => ({}));
    await slow.listen({ host: '127.0.0.1', port: 0 });
    const { port: at } = slow.server.address() as { port: number };
    const socket = connect(at, '127.0.0.1');
    const begun = performance.now();
    socket.on('error', () => undefined).resume();
    socket.write(text);
    const dripping = setInterval(() => socket.write('x'), 20);
    await once(socket, 'close');
    clearInterval(dripping);
    await slow.close();
    return performance.now() - begun;
  }

  it.each([
    ['headers', 'POST /upload HTTP/1.1\r\nHost: a\r\nX-Slow: ', arrival.headers],
    [
      'body',
      'POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n',
      arrival.request,
    ],
  ])('loses its connection when the time limit for its %s ends', async (_, text, allowed) => {
    const took = await drip(text, { arrival });
    expect(took).toBeGreaterThanOrEqual(allowed - 50);
    expect(took).toBeLessThan(within(10 * allowed));
  });

  it('may take 15 s in total and 10 s for its headers; the listener checks these limits every second', () => {
    expect(app.server).toMatchObject({ headersTimeout: 10_000, requestTimeout: 15_000 });
    expect(arrivalTimes.check).toBe(1_000);
  });
});

describe("a caller's address, if X-Forwarded-For names three hosts,", () => {
  it.each<[what: string, trusted: string, trustProxy: boolean | number | string, address: string]>([
    ['the address of the connection', 'no proxy', false, '127.0.0.1'],
    ['the last one', 'one proxy', 1, '192.0.2.3'],
    ['the second one', 'two proxies', 2, '192.0.2.2'],
    ['the last one', 'proxies at 127.0.0.0/8', '127.0.0.0/8', '192.0.2.3'],
    ['the first one', 'all proxies', true, '192.0.2.1'],
  ])('is %s if the listener trusts %s', async (_what, _trusted, trustProxy, address) => {
    const behind = createHttpServer({ logger: createLogger('silent'), trustProxy });
    behind.get('/', async ({ ip }) => ip);
    const headers = { 'x-forwarded-for': '192.0.2.1, 192.0.2.2, 192.0.2.3' };
    expect((await behind.inject({ url: '/', headers })).body).toBe(address);
    await behind.close();
  });
});

describe('a stopping listener', () => {
  it('waits for a running response, and then closes its connection', async () => {
    const closing = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
    const events = new EventEmitter();
    closing.get('/slow', async () => {
      events.emit('begun');
      await once(events, 'go on');
      return { done: true };
    });
    await closing.listen({ host: '127.0.0.1', port: 0 });
    const { port: at } = closing.server.address() as { port: number };
    const begun = once(events, 'begun');
    const answer = fetch(`http://127.0.0.1:${at}/slow`);
    await begun;
    const closed = closing.close();
    await expect.poll(() => closing.server.listening).toBe(false);
    events.emit('go on');

    const { status, headers } = await answer;
    expect([status, headers.get('connection')]).toEqual([200, 'close']);
    await closed;
  });
});
