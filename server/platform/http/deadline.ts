import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { DeadlineSignal } from '../../../contracts/charge.ts';
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
    /** Set only in a scope of `answerInTime`. */
    timeLimit: TimeLimit | null;
  }
}

type TimeLimit = ReturnType<typeof limitTime>;

/** Makes the two time limits of a request. @param refuse answers it */
function limitTime({ beginWithin, answerWithin }: Deadline, refuse: (error: Error) => void) {
  const mayBegin = new AbortController();
  const signal: AbortSignal & DeadlineSignal = mayBegin.signal;
  let timer: NodeJS.Timeout | undefined;

  return {
    /** Aborted when no step that costs money may begin any more. */
    signal,
    start(): void {
      // One timer for both times: most requests are answered before the first.
      timer = setTimeout(() => {
        mayBegin.abort(new Error(`not begun within ${beginWithin} ms`));
        const late = new Error(`no answer within ${answerWithin} ms`);
        timer = setTimeout(refuse, answerWithin - beginWithin, late);
      }, beginWithin);
      signal.endsAt = monotonicTime() + beginWithin;
    },
    stop: (): void => clearTimeout(timer),
    callerIsGone: (): void => mayBegin.abort(new Error('the caller is gone')),
  };
}

/**
 * Sets two time limits for the requests of this scope. After `beginWithin`, or when the caller has disconnected, the signal of
 * `contextOf` is aborted. After `answerWithin`, the request is answered with 503. Each step has a time limit of its own, but
 * together they may take longer. The limits are those of the service's own work: while a body arrives, they are stopped, and a
 * caller that takes too long to send it gets 408.
 * (Fastify's own `handlerTimeout` and `request.signal` end with the request's body, before the handler begins.)
 */
export function answerInTime(scope: FastifyInstance, deadline: Deadline): void {
  scope.decorateRequest('timeLimit', null);
  scope.addHook('onRequest', (request, reply, done) => {
    const limit = limitTime(deadline, (error) => {
      if (!reply.sent) void reply.send(unavailable(error));
    });
    reply.raw.once('close', () => {
      limit.stop();
      if (!reply.raw.writableFinished) limit.callerIsGone();
    });
    request.timeLimit = limit;
    limit.start();
    done();
  });
  scope.addHook('preParsing', (request, _reply, _payload, done) => {
    request.timeLimit?.stop();
    done();
  });
  scope.addHook('preValidation', (request, _reply, done) => {
    request.timeLimit?.start();
    done();
  });
}

/** The context of a request. @throws Error if its route is not in a scope of `answerInTime` */
export function contextOf({ timeLimit, headers }: FastifyRequest): RequestContext {
  if (!timeLimit) throw new Error('this route is not in a scope that answers in time');
  return { signal: timeLimit.signal, traceparent: readTraceparent(headers['traceparent'])?.traceparent };
}
