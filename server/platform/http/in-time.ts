import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unavailable } from '../errors.ts';

/**
 * Milliseconds. decisions.md: where the database is away, a billable endpoint answers 503 within 5 s. What was
 * begun in time has another second to come to its end: the answer to it is worth more than a 503.
 */
const beginWithin = 3_000;
const answerWithin = 4_000;

const signals = new WeakMap<FastifyRequest, AbortSignal>();

/**
 * Routes of this scope answer 503 when their time is up, however many steps were each still within theirs.
 * (Fastify's own `handlerTimeout` ends with the request's body, before the handler has begun.)
 */
export function answerInTime(scope: FastifyInstance): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const waiting = new AbortController();
    signals.set(request, waiting.signal);
    const late = () => unavailable(new Error(`no answer within ${answerWithin} ms`));
    const stop = setTimeout(() => waiting.abort(late()), beginWithin);
    const answer = setTimeout(() => {
      if (!reply.sent) void reply.send(late());
    }, answerWithin);
    reply.raw.once('close', () => {
      clearTimeout(stop);
      clearTimeout(answer);
      if (!reply.raw.writableFinished) waiting.abort(new Error('the caller is gone'));
    });
    done();
  });
}

/** Aborted when it is too late to begin anything that costs money, or its caller is gone. */
export function signalOf(request: FastifyRequest): AbortSignal {
  const signal = signals.get(request);
  if (!signal) throw new Error('this route is not in a scope that answers in time');
  return signal;
}
