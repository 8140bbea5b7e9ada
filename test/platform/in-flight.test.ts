import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { boundInFlight } from '../../server/platform/http/in-flight.ts';
import { createHttpServer, type HttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/logging.ts';

let app: HttpServer;
let url: string;
let waiting: (() => void)[];
const refusalDelay = 20;
const onShed = vi.fn();
const onInFlight = vi.fn();
const warn = vi.fn();

beforeEach(async () => {
  waiting = [];
  onShed.mockClear();
  onInFlight.mockClear();
  warn.mockClear();
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  await app.register(async (scope) => {
    boundInFlight(scope, { most: 3, refusalDelay, onShed, onInFlight, logger: { warn } });
    await scope.register(async (below) => {
      below.get('/slow', () => new Promise((resolve) => waiting.push(() => resolve({ done: true }))));
    });
  });
  app.get('/other', async () => ({ done: true }));
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  for (const finish of waiting) finish();
  // A caller that was gone may have opened another connection, which has had no request yet: a close waits for it.
  app.server.closeAllConnections();
  await app.close();
});

const slow = (signal?: AbortSignal) => fetch(`${url}/slow`, signal ? { signal } : {});
const full = async () => {
  const answers = [slow(), slow(), slow()];
  await expect.poll(() => waiting.length).toBe(3);
  return answers;
};

describe('requests in flight', () => {
  it('are bounded: one more is refused with 503 and Retry-After, counted and logged', async () => {
    const answers = await full();
    for (let n = 0; n < 5; n += 1) {
      const refused = await slow();
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
      expect(await refused.json()).toMatchObject({
        success: false,
        error: expect.stringContaining('in flight'),
      });
    }
    expect(onShed).toHaveBeenCalledTimes(5);
    expect(warn).toHaveBeenCalledTimes(1);
    expect((await fetch(`${url}/other`)).status).toBe(200);
    for (const finish of waiting) finish();
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expect.poll(() => onInFlight.mock.calls.flat()).toEqual([1, 2, 3, 2, 1, 0]);
  });

  it('are refused late, so that callers that repeat without a pause repeat less often', async () => {
    const answers = await full();
    const sentAt = performance.now();
    expect((await slow()).status).toBe(503);
    // A timer may fire up to a millisecond early.
    expect(performance.now() - sentAt).toBeGreaterThanOrEqual(refusalDelay - 1);
    for (const finish of waiting) finish();
    await Promise.all(answers);
  });

  it('leave their place when they are answered, and when their caller is gone', async () => {
    const answers = await full();
    waiting[0]?.();
    await answers[0];
    const caller = new AbortController();
    const gone = expect(slow(caller.signal)).rejects.toThrow('aborted');
    await expect.poll(() => waiting.length).toBe(4);
    expect((await slow()).status).toBe(503);
    caller.abort();
    await gone;
    const answer = slow();
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBe(5);
    waiting[4]?.();
    expect((await answer).status).toBe(200);
    for (const finish of waiting) finish();
    await Promise.all(answers);
  });
});
