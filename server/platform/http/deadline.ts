import type { FastifyInstance, FastifyRequest } from 'fastify';
import { unavailable } from '../errors.ts';
import type { Deadline } from '../pace.ts';
import { readTraceparent } from '../trace-context.ts';

/** The caller of a request, who waits for its answer. */
export interface Waiting {
  /** Why nothing that costs money is begun any more: it is too late, or they are gone. Undefined while it may be. */
  over(): Error | undefined;
  /** The trace that the request is part of (W3C Trace Context). */
  traceparent?: string | undefined;
}

const waiting = new WeakMap<FastifyRequest, Waiting>();

/**
 * Routes of this scope answer 503 when their time is up, however many steps were each still within theirs.
 * (Fastify's own `handlerTimeout` ends with the request's body, before the handler has begun.)
 */
export function answerInTime(scope: FastifyInstance, { beginWithin, answerWithin }: Deadline): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const since = performance.now();
    const late = () => unavailable(new Error(`no answer within ${answerWithin} ms`));
    const timer = setTimeout(() => {
      if (!reply.sent) void reply.send(late());
    }, answerWithin);
    reply.raw.once('close', () => clearTimeout(timer));
    waiting.set(request, {
      traceparent: readTraceparent(request.headers['traceparent'])?.traceparent,
      over() {
        if (request.raw.socket.destroyed) return new Error('the caller is gone');
        return performance.now() - since > beginWithin ? late() : undefined;
      },
    });
    done();
  });
}

/** Who waits for the answer to this request. */
export function waitingFor(request: FastifyRequest): Waiting {
  const caller = waiting.get(request);
  if (!caller) throw new Error('this route is not in a scope that answers in time');
  return caller;
}
