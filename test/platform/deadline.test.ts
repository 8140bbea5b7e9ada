import { afterEach, beforeEach, expect, it } from 'vitest';
import { answerInTime, type Waiting, waitingFor } from '../../server/platform/http/deadline.ts';
import { createHttpServer, type HttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/logging.ts';

let app: HttpServer;
let url: string;
let callers: Waiting[];
let finish: () => void;

beforeEach(async () => {
  callers = [];
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: false });
  await app.register(async (scope) => {
    answerInTime(scope, { beginWithin: 200, answerWithin: 500 });
    scope.post('/slow', async (request) => {
      callers.push(waitingFor(request));
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

it('answers 503 when the time is up, and says so to the work', async () => {
  const response = await call();
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await response.json()).toMatchObject({ success: false });
  expect(callers.map((caller) => caller.over()?.message)).toEqual([expect.stringContaining('unavailable')]);
});

it('tells the work that its caller is gone', async () => {
  const caller = new AbortController();
  const gone = expect(call(caller.signal)).rejects.toThrow('aborted');
  await expect.poll(() => callers.length).toBe(1);
  expect(callers[0]?.over()).toBeUndefined();
  caller.abort();
  await gone;
  await expect.poll(() => callers[0]?.over()?.message).toBe('the caller is gone');
});

it('lets work that is in time alone', async () => {
  const answer = call();
  await expect.poll(() => callers.length).toBe(1);
  finish();
  expect(await (await answer).json()).toEqual({ done: true });
  expect(callers[0]?.over()).toBeUndefined();
});
