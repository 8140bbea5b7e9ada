import { afterEach, beforeEach, expect, it } from 'vitest';
import { answerInTime, contextOf } from '../../server/platform/http/deadline.ts';
import { createHttpServer, type HttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';

let app: HttpServer;
let url: string;
let signals: AbortSignal[];
let finish: () => void;

beforeEach(async () => {
  signals = [];
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  await app.register(async (scope) => {
    answerInTime(scope, { beginWithin: 200, answerWithin: 500 });
    scope.post('/slow', async (request) => {
      signals.push(contextOf(request).signal);
      await finished;
      return { done: true };
    });
  });
  url = await app.listen({ host: '127.0.0.1', port: 0 });
});
afterEach(async () => {
  finish();
  await app.close();
});

const call = (signal?: AbortSignal) =>
  fetch(`${url}/slow`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
    ...(signal ? { signal } : {}),
  });

it('a request is answered with 503 and Retry-After at its deadline, and its AbortSignal is aborted', async () => {
  const response = await call();
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await response.json()).toMatchObject({ success: false });
  expect(signals.map(({ reason }) => reason.message)).toEqual(['not begun within 200 ms']);
});

it('a request whose caller disconnects has its AbortSignal aborted with "the caller is gone"', async () => {
  const caller = new AbortController();
  const gone = expect(call(caller.signal)).rejects.toThrow('aborted');
  await expect.poll(() => signals.length).toBe(1);
  expect(signals[0]?.aborted).toBe(false);
  caller.abort();
  await gone;
  await expect.poll(() => signals[0]?.reason?.message).toBe('the caller is gone');
});

it('a request that is answered before its deadline does not have its AbortSignal aborted', async () => {
  const answer = call();
  await expect.poll(() => signals.length).toBe(1);
  finish();
  expect(await (await answer).json()).toEqual({ done: true });
  expect(signals[0]?.aborted).toBe(false);
});
