import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Logger } from '../telemetry/logging.ts';
import { notePartner } from './answer-log.ts';

/**
 * The kinds of callers, each with places of its own. `unauthenticated`: the credentials are not checked yet. `authenticated`:
 * they are valid. `user`: a user of the hosted pages. `returning_user`: a user who returns from an identity provider or
 * wallet, whose request may wait for that server.
 */
export type CallerKind = 'unauthenticated' | 'authenticated' | 'user' | 'returning_user';

interface Settings {
  /** The most requests in flight of each kind. Further ones are refused. */
  most: Record<CallerKind, number>;
  /** How long a refusal is delayed, in milliseconds. */
  refusalDelay?: number;
  /** Called for each refused request. */
  onShed: (kind: CallerKind) => void;
  /** Called with the number of requests in flight, whenever it changes. */
  onInFlight: (kind: CallerKind, count: number) => void;
  logger: Pick<Logger, 'warn'>;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
}

/** Seconds after which a refused caller may try again. */
const retryAfter = 1;
/** One error object for all refused requests, because a refusal has to be cheap. Refusals are logged in sum, see `refuse`. */
const overloaded = new ApiError('service_unavailable', {
  retryAfter,
  logged: true,
  description: 'Too many requests are in flight; try again shortly',
});
/** A delay in milliseconds: a caller that ignores `Retry-After` then repeats its request less often. */
const refusalDelayMs = 250;
/** Milliseconds between two lines in the log. */
const logEvery = 1_000;
/** The kinds whose requests wait for no other server. Each of these requests ends within a few seconds. */
const promptKinds: readonly CallerKind[] = ['unauthenticated', 'authenticated', 'user'];
/** If all places of such a kind are taken and none is given back for this many milliseconds, requests no longer end. */
const stuckAfter = 10_000;

/** Limits the requests in flight: each request takes a place of its kind. */
export function createCapacity(settings: Settings) {
  const { most, refusalDelay = refusalDelayMs, onShed, onInFlight, logger } = settings;
  const { now = () => performance.now() } = settings;
  const inFlight = { unauthenticated: 0, authenticated: 0, user: 0, returning_user: 0 };
  /** When the last free place of a kind was taken; undefined if one was given back since. */
  const fullSince: Partial<Record<CallerKind, number | undefined>> = {};
  let refusedSinceLogged = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  return {
    /** Takes a place. False if all are taken. */
    take(kind: CallerKind): boolean {
      if (inFlight[kind] >= most[kind]) return false;
      inFlight[kind] += 1;
      if (inFlight[kind] === most[kind]) fullSince[kind] = now();
      onInFlight(kind, inFlight[kind]);
      return true;
    },

    giveBack(kind: CallerKind): void {
      inFlight[kind] -= 1;
      fullSince[kind] = undefined;
      onInFlight(kind, inFlight[kind]);
    },

    /** Rejects after a delay with the refusal of one more request. */
    async refuse(kind: CallerKind): Promise<never> {
      onShed(kind);
      refusedSinceLogged += 1;
      if (now() - loggedAt > logEvery) {
        logger.warn({ shed: refusedSinceLogged, ...inFlight }, 'overloaded: requests are refused');
        loggedAt = now();
        refusedSinceLogged = 0;
      }
      await delay(refusalDelay);
      throw overloaded;
    },

    /**
     * Whether all places of some kind were taken, and none was given back, for 10 s. Users who return from another server do
     * not count, because their requests may wait for that server.
     */
    isStuck: (): boolean => promptKinds.some((kind) => now() - (fullSince[kind] ?? now()) > stuckAfter),
  };
}

export type Capacity = ReturnType<typeof createCapacity>;

/** A request in a scope of `boundInFlight`. */
interface LimitedRequest {
  readonly capacity: Capacity;
  /** The kind of its caller. It changes when the credentials prove valid. */
  kind: CallerKind;
  /** The kind of the place that the request has taken; undefined while it has none. */
  placeKind?: CallerKind | undefined;
}
/** Requests whose connection is open. */
const limitedRequests = new WeakMap<FastifyRequest, LimitedRequest>();

/** Gives the request's place back. Idempotent. */
function releasePlace(limited: LimitedRequest): void {
  if (limited.placeKind) limited.capacity.giveBack(limited.placeKind);
  limited.placeKind = undefined;
}

/** Takes a place of the request's kind, and gives an earlier one back. Rejects if all are taken. */
async function takePlace(limited: LimitedRequest): Promise<void> {
  const { capacity, kind } = limited;
  releasePlace(limited);
  if (capacity.take(kind)) limited.placeKind = kind;
  else await capacity.refuse(kind);
}

/**
 * Bounds the requests in flight in this scope and those below it. A request counts from when its body has arrived until
 * its answer is ready or its connection is closed. Above the bound, it is refused with 503.
 * @param kindOf the kind of caller, as far as the route tells; undefined for requests without a limit. By default, callers
 * are unauthenticated until `admitAuthenticated` is called
 */
export function boundInFlight(
  scope: FastifyInstance,
  capacity: Capacity,
  kindOf: (request: FastifyRequest) => CallerKind | undefined = () => 'unauthenticated',
): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const kind = kindOf(request);
    if (!kind) return done();
    const limited: LimitedRequest = { capacity, kind };
    limitedRequests.set(request, limited);
    reply.raw.once('close', () => {
      limitedRequests.delete(request);
      releasePlace(limited);
    });
    done();
  });
  scope.addHook('preValidation', async (request) => {
    const limited = limitedRequests.get(request);
    if (limited) await takePlace(limited);
  });
  // The place is free before the response is sent, so that a slow reader does not hold it.
  scope.addHook('onSend', (request, _reply, _payload, done) => {
    const limited = limitedRequests.get(request);
    if (limited) releasePlace(limited);
    done();
  });
}

/**
 * Records that the credentials of a request are valid. In a limited scope, the request moves to a place for authenticated
 * callers, which callers without credentials cannot take.
 * @throws ApiError `service_unavailable` if all these places are taken
 */
export async function admitAuthenticated(request: FastifyRequest, partnerId: string): Promise<void> {
  notePartner(request, partnerId);
  const limited = limitedRequests.get(request);
  if (limited?.kind !== 'unauthenticated') return;
  limited.kind = 'authenticated';
  // Before its body has arrived, a request has no place. It then takes one of the new kind.
  if (limited.placeKind) await takePlace(limited);
}
