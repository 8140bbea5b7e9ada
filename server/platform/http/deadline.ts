import type { FastifyInstance, FastifyRequest } from 'fastify';
import { monotonicTime } from '../clock.ts';
import type { Deadline } from '../config/pace.ts';
import { unavailable } from '../errors.ts';
import { readTraceparent } from '../telemetry/trace-context.ts';

/** The facts about a request that the steps of an endpoint need. */
export interface RequestContext {
  /** Aborted when no step that costs money may begin any more: it is too late, or the caller has disconnected. */
  signal: AbortSignal;
  /** The trace that the request is part of (W3C Trace Context). */
  traceparent?: string | undefined;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Aborted when no step that costs money may begin any more. Set only in a scope of `answerInTime`. */
    mayBegin: AbortSignal | null;
  }
}

/**
 * Sets two time limits for the requests of this scope. After `beginWithin`, or when the caller has disconnected,
 * `request.mayBegin` is aborted. After `answerWithin`, the request is answered with 503. Each step has a time limit of its
 * own, but together they may take longer.
 * (Fastify's own `handlerTimeout` and `request.signal` end with the request's body, before the handler begins.)
 */
export function answerInTime(scope: FastifyInstance, { beginWithin, answerWithin }: Deadline): void {
  scope.decorateRequest('mayBegin', null);
  scope.addHook('onRequest', (request, reply, done) => {
    const mayBegin = new AbortController();
    const refuse = () => {
      if (!reply.sent) void reply.send(unavailable(new Error(`no answer within ${answerWithin} ms`)));
    };
    // One timer for both times: most requests are answered before the first.
    let timer = setTimeout(() => {
      mayBegin.abort(new Error(`not begun within ${beginWithin} ms`));
      timer = setTimeout(refuse, answerWithin - beginWithin);
    }, beginWithin);
    reply.raw.once('close', () => {
      clearTimeout(timer);
      if (!reply.raw.writableFinished) mayBegin.abort(new Error('the caller is gone'));
    });
    // A charge that is handed over to another process reads this time (`DeadlineSignal` in contracts/charge.ts).
    const endsAt = monotonicTime() + beginWithin;
    request.mayBegin = Object.assign(mayBegin.signal, { endsAt });
    done();
  });
}

/** The context of a request. @throws Error if its route is not in a scope of `answerInTime` */
export function contextOf({ mayBegin, headers }: FastifyRequest): RequestContext {
  if (!mayBegin) throw new Error('this route is not in a scope that answers in time');
  return { signal: mayBegin, traceparent: readTraceparent(headers['traceparent'])?.traceparent };
}
