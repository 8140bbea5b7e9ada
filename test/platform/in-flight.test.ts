import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  admitAuthenticated,
  boundInFlight,
  type CallerKind,
  type Capacity,
  createCapacity,
  leavePlace,
} from '../../server/platform/http/limits/in-flight.ts';
import { createHttpServer, type HttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';

let app: HttpServer;
let url: string;
let capacity: Capacity;
let waiting: (() => void)[];
let now: number;
const kinds: Record<string, CallerKind> = { '/page': 'user', '/return': 'returning_user' };
/** Answers that exceed the buffers of a connection. */
let large: number;
const refusalDelay = 20;
const onShed = vi.fn();
const none = { unauthenticated: 0, authenticated: 0, user: 0, returning_user: 0 };
const inFlight = { ...none };
const warn = vi.fn();

beforeEach(async () => {
  waiting = [];
  large = 0;
  now = 1_000_000;
  onShed.mockClear();
  warn.mockClear();
  Object.assign(inFlight, none);
  capacity = createCapacity({
    most: { unauthenticated: 3, authenticated: 2, user: 2, returning_user: 1 },
    refusalDelay,
    onShed,
    onInFlight: (kind, count) => {
      inFlight[kind] = count;
    },
    logger: { warn },
    now: () => now,
  });
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  await app.register(async (scope) => {
    boundInFlight(scope, capacity);
    await scope.register(async (below) => {
      const wait = () => new Promise((resolve) => waiting.push(() => resolve({ done: true })));
      below.get('/slow', wait);
      below.post('/slow', wait);
      below.get('/known', async (request) => {
        await admitAuthenticated(request, 'ptr_1');
        return wait();
      });
      below.get('/partners-server', async (request) => {
        await admitAuthenticated(request, 'ptr_1');
        leavePlace(request);
        return wait();
      });
      below.get('/large', async () => {
        large += 1;
        return 'x'.repeat(20_000_000);
      });
    });
  });
  await app.register(async (scope) => {
    boundInFlight(scope, capacity, ({ routeOptions: { url } }) => {
      const kind = kinds[url ?? ''];
      return kind && { kind };
    });
    const wait = () => new Promise((resolve) => waiting.push(() => resolve({ done: true })));
    for (const path of ['/page', '/return', '/style']) scope.get(path, wait);
  });
  app.get('/other', async () => ({ done: true }));
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const finish of waiting) finish();
  // A disconnected client may have opened another connection without a request, and a close would wait for it.
  app.server.closeAllConnections();
  await app.close();
});

const call = (path: string, signal?: AbortSignal) => fetch(`${url}${path}`, signal ? { signal } : {});
const slow = (signal?: AbortSignal) => call('/slow', signal);
const full = async () => {
  const answers = [slow(), slow(), slow()];
  await expect.poll(() => waiting.length).toBe(3);
  return answers;
};
async function rawConnection() {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1').on(
    'error',
    () => undefined,
  );
  await once(socket, 'connect');
  return socket;
}

describe('requests in flight', () => {
  it('are limited: each further request gets 503 with Retry-After and is counted, and one warning is logged', async () => {
    const answers = await full();
    for (let n = 0; n < 5; n += 1) {
      const refused = await slow();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({
        success: false,
        error: expect.stringContaining('in flight'),
      });
    }
    expect(onShed.mock.calls.flat()).toEqual(Array(5).fill('unauthenticated'));
    expect(warn).toHaveBeenCalledTimes(1);
    expect((await fetch(`${url}/other`)).status).toBe(200);
    for (const finish of waiting) finish();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expect.poll(() => inFlight.unauthenticated).toBe(0);
  });

  it('are answered with 503 only after a short delay if they exceed the limit', async () => {
    const answers = await full();
    const sentAt = performance.now();
    expect((await slow()).status).toBe(503);
    // A timer may fire up to a millisecond early.
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(refusalDelay - 1);
    for (const finish of waiting) finish();
    await Promise.all(answers);
  });

  it('stop counting when they are answered, or when their caller has disconnected', async () => {
    const answers = await full();
    waiting[0]?.();
    await answers[0];
    const caller = new AbortController();
    const gone = expect(slow(caller.signal)).rejects.toThrow('aborted');
    await expect.poll(() => waiting.length).toBe(4);
    expect((await slow()).status).toBe(503);
    caller.abort();
    await gone;
    await expect.poll(() => inFlight.unauthenticated).toBe(2);
    const answer = slow();
    await expect.poll(() => waiting.length).toBe(5);
    waiting[4]?.();
    expect((await answer).status).toBe(200);
    for (const finish of waiting) finish();
    await Promise.all(answers);
    // The disconnected caller's work has also ended by now, and its place was freed only once.
    expect(inFlight.unauthenticated).toBe(0);
  });

  it('count only from the moment when their body has arrived', async () => {
    const sockets = await Promise.all([1, 2, 3, 4].map(rawConnection));
    const head =
      'POST /slow HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n';
    for (const socket of sockets) socket.write(head);
    expect((await fetch(`${url}/other`)).status).toBe(200);
    expect(inFlight.unauthenticated).toBe(0);
    sockets[0]?.write('{}');
    await expect.poll(() => inFlight.unauthenticated).toBe(1);
    for (const socket of sockets) socket.destroy();
    await expect.poll(() => inFlight.unauthenticated).toBe(0);
  });

  it('stop counting when the answer is ready, even if the caller does not read the answer', async () => {
    const sockets = await Promise.all([1, 2, 3, 4].map(rawConnection));
    for (const socket of sockets) socket.pause().write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    await expect.poll(() => large).toBe(4);
    await expect.poll(() => inFlight.unauthenticated).toBe(0);
    const answers = await full();
    for (const finish of waiting) finish();
    await Promise.all(answers);
    for (const socket of sockets) socket.destroy();
  });
});

describe('callers with right credentials', () => {
  const known = () => call('/known');

  it('have a limit of their own: requests without credentials do not count towards it', async () => {
    const first = known();
    await expect.poll(() => inFlight).toEqual({ ...none, authenticated: 1 });
    const second = known();
    await expect.poll(() => inFlight).toEqual({ ...none, authenticated: 2 });
    const others = [slow(), slow(), slow()];
    await expect.poll(() => inFlight).toEqual({ ...none, unauthenticated: 3, authenticated: 2 });
    for (const finish of waiting) finish();
    expect((await Promise.all([first, second, ...others])).map(({ status }) => status)).toEqual(
      Array(5).fill(200),
    );
  });

  it('get 503 if their own limit is reached, and requests without credentials are still admitted', async () => {
    const answers = [known(), known()];
    await expect.poll(() => inFlight.authenticated).toBe(2);
    expect((await known()).status).toBe(503);
    expect(onShed.mock.calls.flat()).toEqual(['authenticated']);
    expect(inFlight).toEqual({ ...none, authenticated: 2 });
    for (const finish of waiting) finish();
    await Promise.all(answers);
  });
});

describe('callers of the hosted pages and callers of the API', () => {
  it('have separate limits of requests in flight: calls of the API are answered while pages get 503', async () => {
    const pages = [call('/page'), call('/page')];
    await expect.poll(() => inFlight).toEqual({ ...none, user: 2 });
    expect((await call('/page')).status).toBe(503);
    expect(onShed.mock.calls.flat()).toEqual(['user']);
    const others = [call('/return'), slow(), call('/style'), call('/style'), call('/style')];
    await expect.poll(() => waiting.length).toBe(7);
    expect(inFlight).toEqual({ ...none, unauthenticated: 1, user: 2, returning_user: 1 });
    for (const finish of waiting) finish();
    const statuses = (await Promise.all([...pages, ...others])).map(({ status }) => status);
    expect(statuses).toEqual(Array(7).fill(200));
    await expect.poll(() => inFlight).toEqual(none);
  });
});

describe('requests of one partner', () => {
  it('take at most their share of the places, and those of another partner find the rest', () => {
    const shared = createCapacity({
      most: { unauthenticated: 3, authenticated: 3, user: 1, returning_user: 1 },
      mostOfSharer: { authenticated: 2 },
      onShed,
      onInFlight: () => undefined,
      logger: { warn },
    });
    const place = (sharer: string) => ({ kind: 'authenticated' as const, sharer });
    expect([1, 2, 3].map(() => shared.take(place('ptr_1')))).toEqual([true, true, false]);
    expect(shared.take(place('ptr_2'))).toBe(true);
    shared.giveBack(place('ptr_1'));
    expect([shared.take(place('ptr_1')), shared.take(place('ptr_2'))]).toEqual([true, false]);
  });

  it('hold no place while they wait for the server of the partner', async () => {
    const answers = [1, 2, 3, 4].map(() => call('/partners-server'));
    await expect.poll(() => waiting.length).toBe(4);
    expect(inFlight).toEqual(none);
    for (const finish of waiting) finish();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(inFlight).toEqual(none);
  });
});

describe('the check for a stuck limit', () => {
  it('finds nothing while users wait for their verification sources', () => {
    capacity.take({ kind: 'returning_user' });
    now += 60_000;
    expect(capacity.isStuck()).toBe(false);
  });

  it('finds a limit whose places are all taken if none was freed for more than 10 s', () => {
    capacity.take({ kind: 'authenticated' });
    now += 60_000;
    expect(capacity.isStuck()).toBe(false);
    capacity.take({ kind: 'authenticated' });
    now += 10_000;
    expect(capacity.isStuck()).toBe(false);
    now += 1;
    expect(capacity.isStuck()).toBe(true);
    capacity.giveBack({ kind: 'authenticated' });
    expect(capacity.isStuck()).toBe(false);
    capacity.take({ kind: 'authenticated' });
    expect(capacity.isStuck()).toBe(false);
  });
});
