import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unavailable } from '../errors.ts';

/** Milliseconds. decisions.md: where the database is away, a billable endpoint answers 503 within 5 s. */
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
    const timer = setTimeout(() => {
      const error = unavailable(new Error(`no answer within ${answerWithin} ms`));
      waiting.abort(error);
      if (!reply.sent) void reply.send(error);
    }, answerWithin);
    reply.raw.once('close', () => {
      clearTimeout(timer);
      if (!reply.raw.writableFinished) waiting.abort(new Error('the caller is gone'));
    });
    done();
  });
}

/** Aborted once the caller has an answer or is gone: nothing that costs money is begun after it. */
export function signalOf(request: FastifyRequest): AbortSignal {
  const signal = signals.get(request);
  if (!signal) throw new Error('this route is not in a scope that answers in time');
  return signal;
}
