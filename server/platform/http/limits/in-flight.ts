import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../../errors.ts';
import type { Logger } from '../../telemetry/logging.ts';
import { notePartner } from '../answer-log.ts';

/**
 * The kinds of callers, each with places of its own. `unauthenticated`: the credentials are not checked yet. `authenticated`:
 * they are valid. `user`: a user of the hosted pages. `returning_user`: a user who returns from an identity provider or
 * wallet, whose request may wait for that server.
 */
export type CallerKind = 'unauthenticated' | 'authenticated' | 'user' | 'returning_user';

/** A place, with the one who shares the places of its kind with others: a partner, or the identity provider of users who return. */
export interface CallerPlace {
  kind: CallerKind;
  sharer?: string;
}

interface Settings {
  /** The most requests in flight of each kind. Further ones are refused. */
  most: Record<CallerKind, number>;
  /** The most of these that one sharer has, so that the others find free ones. Default: all of the kind. */
  mostOfSharer?: Partial<Record<CallerKind, number>>;
  /** How long a refusal is delayed, in milliseconds. */
  refusalDelay?: number;
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
  const { most, mostOfSharer = {}, refusalDelay = refusalDelayMs, onShed, onInFlight, logger } = settings;
  const { now = () => performance.now() } = settings;
  const inFlight = { unauthenticated: 0, authenticated: 0, user: 0, returning_user: 0 };
  /** When the last free place of a kind was taken; undefined if one was given back since. */
  const fullSince: Partial<Record<CallerKind, number | undefined>> = {};
  /** The places of each sharer that has any, by kind and name. */
  const ofSharers = new Map<string, number>();
  const nameOf = ({ kind, sharer }: CallerPlace) => `${kind} ${sharer}`;
  let refusedSinceLogged = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  return {
    /** Takes a place. False if all are taken, or all that its sharer may have. */
    take(place: CallerPlace): boolean {
      const { kind, sharer } = place;
      if (inFlight[kind] >= most[kind]) return false;
      if (sharer !== undefined) {
        const held = ofSharers.get(nameOf(place)) ?? 0;
        if (held >= (mostOfSharer[kind] ?? most[kind])) return false;
        ofSharers.set(nameOf(place), held + 1);
      }
      inFlight[kind] += 1;
      if (inFlight[kind] === most[kind]) fullSince[kind] = now();
      onInFlight(kind, inFlight[kind]);
      return true;
    },

    giveBack(place: CallerPlace): void {
      const { kind, sharer } = place;
      inFlight[kind] -= 1;
      fullSince[kind] = undefined;
      onInFlight(kind, inFlight[kind]);
      if (sharer === undefined) return;
      const held = ofSharers.get(nameOf(place)) ?? 0;
      if (held > 1) ofSharers.set(nameOf(place), held - 1);
      else ofSharers.delete(nameOf(place));
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

interface LimitedRequest {
  readonly capacity: Capacity;
  /** The place that it needs. It changes when the credentials prove valid. */
  needed: CallerPlace;
  /** The place that it has taken; undefined while it has none. */
  taken?: CallerPlace | undefined;
}
/** Requests whose connection is open. */
const limitedRequests = new WeakMap<FastifyRequest, LimitedRequest>();

/** Gives the request's place back. Idempotent. */
function releasePlace(limited: LimitedRequest): void {
  if (limited.taken) limited.capacity.giveBack(limited.taken);
  limited.taken = undefined;
}

/** Takes the place that the request needs, and gives an earlier one back. Rejects if all are taken. */
async function takePlace(limited: LimitedRequest): Promise<void> {
  const { capacity, needed } = limited;
  releasePlace(limited);
  if (capacity.take(needed)) limited.taken = needed;
  else await capacity.refuse(needed.kind);
}

/**
 * Bounds the requests in flight in this scope and those below it. A request counts from when its body has arrived until
 * its answer is ready or its connection is closed. Above the bound, it is refused with 503.
 * @param placeOf the place that the request needs, as far as the route tells; undefined for requests without a limit. By default,
 * callers are unauthenticated until `admitAuthenticated` is called
 */
export function boundInFlight(
  scope: FastifyInstance,
  capacity: Capacity,
  placeOf: (request: FastifyRequest) => CallerPlace | undefined = () => ({ kind: 'unauthenticated' }),
): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const needed = placeOf(request);
    if (!needed) return done();
    const limited: LimitedRequest = { capacity, needed };
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
 * @throws ApiError `service_unavailable` if all these places are taken, or all that the partner may have
 */
export async function admitAuthenticated(request: FastifyRequest, partnerId: string): Promise<void> {
  notePartner(request, partnerId);
  const limited = limitedRequests.get(request);
  if (limited?.needed.kind !== 'unauthenticated') return;
  limited.needed = { kind: 'authenticated', sharer: partnerId };
  // Before its body has arrived, a request has no place. It then takes one of the new kind.
  if (limited.taken) await takePlace(limited);
}

/** Gives the place of a request back before its answer is ready, because it is going to wait for a partner's server. */
export function leavePlace(request: FastifyRequest): void {
  const limited = limitedRequests.get(request);
  if (limited) releasePlace(limited);
}
