import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
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
  const arrival = { headers: 500, request: 1_000, check: 50 };
  app = createHttpServer({ logger: createLogger('silent'), trustProxy: false, arrival });
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

/** Sends the headers of a request and the first byte of its body, then the last one after some milliseconds, or never. */
async function sendSlowly(pause: number | undefined): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const head = ['POST /slow HTTP/1.1', 'Host: a', 'Content-Type: application/json', 'Content-Length: 2'];
  socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n{`);
  const answer = text(socket);
  if (pause !== undefined) {
    await sleep(pause);
    socket.write('}');
  }
  return answer;
}

it('the time in which a body arrives does not count: it may take longer than both limits', async () => {
  finish();
  expect(await sendSlowly(600)).toMatch(/^HTTP\/1\.1 200 /);
  expect(signals.map(({ aborted }) => aborted)).toEqual([false]);
});

it('a body that never ends is the fault of its sender: 408, not 503', async () => {
  expect(await sendSlowly(undefined)).toMatch(/^HTTP\/1\.1 408 /);
});
