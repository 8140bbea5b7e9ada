import type { FastifyInstance, FastifyRequest } from 'fastify';
import { ApiError } from '../errors.ts';
import type { Logger } from '../telemetry/logging.ts';
import { notePartner } from './answer-log.ts';

/**
 * Whose requests a place is for: callers whose credentials are not judged yet, callers with right ones, users of the hosted
 * pages, and users who come back from an identity provider or a wallet. The answer to these may wait for another party.
 */
export type CallerKind = 'unauthenticated' | 'authenticated' | 'user' | 'returning_user';

interface Settings {
  /** Most requests in flight of each kind; one more is refused. */
  most: Record<CallerKind, number>;
  /** Milliseconds that a refusal waits. */
  refusalDelay?: number;
  /** Called for each refused request. */
  onShed: (kind: CallerKind) => void;
  /** Called with how many are in flight, whenever that changes. */
  onInFlight: (kind: CallerKind, count: number) => void;
  logger: Pick<Logger, 'warn'>;
  /** A monotonic clock, in milliseconds. */
  now?: () => number;
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
/** Milliseconds. A request that waits for no other party is answered sooner: places that are all taken for longer are lost. */
const stuckAfter = 10_000;

/** The places of requests in flight, and who has them. */
export interface Capacity {
  /** Takes a place; false where all are taken. */
  take(kind: CallerKind): boolean;
  giveBack(kind: CallerKind): void;
  /** Rejects after a delay with the refusal of one more request. */
  refuse(kind: CallerKind): Promise<never>;
  /** True where all places of a kind that waits for no other party are taken, and none was given back for 10 s. */
  isStuck(): boolean;
}

export function createCapacity(settings: Settings): Capacity {
  const { most, refusalDelay = refusalDelayMs, onShed, onInFlight, logger } = settings;
  const { now = () => performance.now() } = settings;
  const inFlight = { unauthenticated: 0, authenticated: 0, user: 0, returning_user: 0 };
  const fullSince: Partial<Record<CallerKind, number | undefined>> = {};
  let shed = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;

  return {
    take(kind) {
      if (inFlight[kind] >= most[kind]) return false;
      inFlight[kind] += 1;
      if (inFlight[kind] === most[kind]) fullSince[kind] = now();
      onInFlight(kind, inFlight[kind]);
      return true;
    },

    giveBack(kind) {
      inFlight[kind] -= 1;
      fullSince[kind] = undefined;
      onInFlight(kind, inFlight[kind]);
    },

    refuse(kind) {
      onShed(kind);
      shed += 1;
      if (now() - loggedAt > logEvery) {
        logger.warn({ shed, ...inFlight }, 'overloaded: requests are refused');
        loggedAt = now();
        shed = 0;
      }
      return new Promise((_resolve, reject) => {
        setTimeout(() => reject(overloaded), refusalDelay);
      });
    },

    isStuck: () =>
      Object.entries(fullSince).some(
        ([kind, since]) => kind !== 'returning_user' && since !== undefined && now() - since > stuckAfter,
      ),
  };
}

/** A request of a bounded scope: who sends it, as far as known, and the place that it has. */
interface Placed {
  readonly capacity: Capacity;
  kind: CallerKind;
  place?: CallerKind | undefined;
}
/** Requests whose connection is open. */
const requests = new WeakMap<FastifyRequest, Placed>();

/** Idempotent. */
function leave(one: Placed): void {
  if (one.place) one.capacity.giveBack(one.place);
  one.place = undefined;
}

/** Changes to a place of the request's kind. @returns a rejection where all of them are taken */
function enter(one: Placed): Promise<never> | undefined {
  leave(one);
  if (!one.capacity.take(one.kind)) return one.capacity.refuse(one.kind);
  one.place = one.kind;
  return undefined;
}

/**
 * Bounds the requests in flight in this scope and those below it. A request counts from when its body has arrived until
 * its answer is ready or its connection is closed. Above the bound, it is refused with 503.
 * @param kindOf who sends a request, as far as its route tells; undefined for one that is not bounded
 */
export function boundInFlight(
  scope: FastifyInstance,
  capacity: Capacity,
  kindOf: (request: FastifyRequest) => CallerKind | undefined = () => 'unauthenticated',
): void {
  scope.addHook('onRequest', (request, reply, done) => {
    const kind = kindOf(request);
    if (!kind) return done();
    const one: Placed = { capacity, kind };
    requests.set(request, one);
    reply.raw.once('close', () => {
      requests.delete(request);
      leave(one);
    });
    done();
  });
  scope.addHook('preValidation', async (request) => {
    const one = requests.get(request);
    if (one) await enter(one);
  });
  // What remains is to send the answer. A caller that does not read it delays that.
  scope.addHook('onSend', (request, _reply, _payload, done) => {
    const one = requests.get(request);
    if (one) leave(one);
    done();
  });
}

/**
 * Records that the credentials of a request are right. In a bounded scope it goes on in a place for such requests.
 * Callers without credentials cannot take those.
 * @throws ApiError service_unavailable where all these places are taken
 */
export async function admitAuthenticated(request: FastifyRequest, partnerId: string): Promise<void> {
  notePartner(request, partnerId);
  const one = requests.get(request);
  if (one?.kind !== 'unauthenticated') return;
  one.kind = 'authenticated';
  // A request without a place takes one when its body has arrived.
  if (one.place) await enter(one);
}
