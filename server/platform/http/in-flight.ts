import type { FastifyInstance } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Logger } from '../logging.ts';

interface Settings {
  /** Most requests in flight; one more is refused. */
  most: number;
  /** Milliseconds that a refusal waits. */
  refusalDelay?: number;
  /** Called for each refused request. */
  onShed: () => void;
  /** Called with how many are in flight, whenever that changes. */
  onInFlight?: (count: number) => void;
  logger: Pick<Logger, 'warn'>;
}

/** Seconds after which a refused caller may try again. */
const retryAfter = 1;
/** The same for every refused request: a refusal has to be cheap. */
const overloaded = new ApiError('service_unavailable', {
  retryAfter,
  logged: true,
  description: 'Too many requests are in flight; try again shortly',
});
/** Milliseconds. A caller that ignores `Retry-After` repeats less often if the refusal is delayed. */
const refusalDelayMs = 250;
/** Milliseconds between two lines in the log. */
const logEvery = 1_000;

/**
 * Bounds the requests in flight in this scope and those below it. Above the bound, a request is refused with
 * 503 before its body is read.
 */
export function boundInFlight(scope: FastifyInstance, settings: Settings): void {
  const { most, refusalDelay = refusalDelayMs, onShed, onInFlight, logger } = settings;
  let inFlight = 0;
  let shed = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  function refuse(): ApiError {
    onShed();
    shed += 1;
    if (performance.now() - loggedAt > logEvery) {
      logger.warn({ shed, inFlight }, 'overloaded: requests are refused');
      loggedAt = performance.now();
      shed = 0;
    }
    return overloaded;
  }

  scope.addHook('onRequest', (_request, reply, done) => {
    if (inFlight >= most) {
      setTimeout(() => done(refuse()), refusalDelay);
      return;
    }
    inFlight += 1;
    onInFlight?.(inFlight);
    reply.raw.once('close', () => {
      inFlight -= 1;
      onInFlight?.(inFlight);
    });
    done();
  });
}
