import { type InFlight, type Lane, lanes, noneInFlight } from './delivery.ts';

/** The most attempts that a process has in flight: for one endpoint, and in all. */
export interface Limits {
  perEndpoint: number;
  pool: number;
}

/** Even if 200 endpoints do not respond and each takes its 5 slots, 24 of the 1,024 slots are free for others. */
export const defaultLimits: Limits = { perEndpoint: 5, pool: 1024 };

/**
 * The limits of retries. One slot of each endpoint and a quarter of the pool stay free for first attempts. One retry is always
 * possible, even with the smallest limits.
 */
export const retryLimits = ({ perEndpoint, pool }: Limits): Limits => ({
  perEndpoint: Math.max(1, perEndpoint - 1),
  pool: Math.max(1, Math.floor(pool * 0.75)),
});

/** The due deliveries of an endpoint in one lane that this process knows. Another process may have leased any of them. */
interface Waiting {
  /** In the order in which they are leased. */
  ids: Set<string>;
  /** Which ones they are: all that are due, those that have been due longest, or any. */
  known: 'all' | 'longest due' | 'any';
}

interface Endpoint {
  keyId: string;
  waiting: Record<Lane, Waiting>;
  inFlight: InFlight;
  isLeasing: boolean;
  /** The time by `performance.now()` until which nothing is leased. */
  heldUntil: number;
}

interface Capacity {
  slots: number;
  /** How many of the slots retries may take. */
  retries: number;
}

/** A lease that an endpoint begins, with the slots that are reserved for it. */
export interface Turn extends Capacity {
  endpoint: Endpoint;
}

/** How many ids one query reads: ten times the slots of an endpoint. */
const lookAhead = 50;
/** The most ids that are kept of a lane, so that memory is bounded. */
const mostKnown = 1000;
const unlimited: Capacity = { slots: Number.POSITIVE_INFINITY, retries: Number.POSITIVE_INFINITY };

/** The start of a lane: nothing is due, until a delivery is added or `doubt` demands a query. */
const nothing = (): Waiting => ({ ids: new Set(), known: 'all' });
const mayWait = ({ ids, known }: Waiting): boolean => ids.size > 0 || known !== 'all';
const hasWaiting = ({ waiting }: Endpoint): boolean => mayWait(waiting.first) || mayWait(waiting.retry);
const isHeld = ({ heldUntil }: Endpoint): boolean => heldUntil > performance.now();

/** Whether an endpoint with this capacity can lease something that waits. */
const canLease = ({ waiting }: Endpoint, { slots, retries }: Capacity): boolean =>
  (slots > 0 && mayWait(waiting.first)) || (retries > 0 && mayWait(waiting.retry));

/** Merges two lists by taking items from them in turn, beginning with the first list. */
function alternate<T>(one: readonly T[], other: readonly T[]): T[] {
  const length = Math.max(one.length, other.length);
  return Array.from({ length }, (_, index) => [one[index], other[index]])
    .flat()
    .filter((item) => item !== undefined);
}

interface Settings {
  limits: Limits;
  /** Finds due deliveries of an endpoint, the longest due first. */
  find: (keyId: string, lane: Lane, limit: number) => Promise<string[]>;
}

/**
 * What waits of each endpoint, and how many attempts may start. First attempts wait in one lane, retries and resends in another.
 * Retries never take an endpoint's last slot or the last quarter of the pool, so first attempts can always use them. If an
 * endpoint has no retry in flight, a due retry goes first, so that first attempts cannot hold all retries up.
 */
export function createBacklog({ limits, find }: Settings) {
  const endpoints = new Map<string, Endpoint>();
  /** Endpoints that may have something to lease, in order. Those that wait for a slot of the pool stay here. */
  const ready = new Set<Endpoint>();
  const all: InFlight = { ...noneInFlight };
  /** Slots that leases under way may fill, so that other leases do not count on them. */
  let reserved = 0;
  const forRetries = retryLimits(limits);

  const ofPool = (): Capacity => ({
    slots: limits.pool - all.first - all.retry - reserved,
    retries: forRetries.pool - all.retry - reserved,
  });

  function capacityOf({ inFlight: { first, retry } }: Endpoint, pool = ofPool()): Capacity {
    const slots = Math.max(0, Math.min(limits.perEndpoint - first - retry, pool.slots));
    const retries = Math.min(slots, forRetries.perEndpoint - retry, pool.retries);
    return { slots, retries: Math.max(0, retries) };
  }

  function endpointOf(keyId: string): Endpoint {
    const known = endpoints.get(keyId);
    if (known) return known;
    const waiting = { first: nothing(), retry: nothing() };
    const endpoint = { keyId, waiting, inFlight: { ...noneInFlight }, isLeasing: false, heldUntil: 0 };
    endpoints.set(keyId, endpoint);
    return endpoint;
  }

  /** Keeps an endpoint only while something of it waits or is in flight. */
  function review(endpoint: Endpoint): void {
    const { keyId, inFlight, isLeasing } = endpoint;
    if (hasWaiting(endpoint)) ready.add(endpoint);
    else if (!isLeasing && inFlight.first + inFlight.retry === 0) endpoints.delete(keyId);
  }

  function count(endpoint: Endpoint, lane: Lane, change: 1 | -1): void {
    endpoint.inFlight[lane] += change;
    all[lane] += change;
  }

  /** Makes the next lease query the database. `any`: deliveries that have been due longer than the known ones may wait. */
  function doubt(keyId: string, known: 'longest due' | 'any'): void {
    const endpoint = endpointOf(keyId);
    for (const lane of Object.values(endpoint.waiting)) if (lane.known !== 'any') lane.known = known;
    ready.add(endpoint);
  }

  /** Notes what a query has found of a lane. What was added before may be newer than the query. */
  function note(waiting: Endpoint['waiting'], lane: Lane, found: readonly string[]): void {
    const { ids, known } = waiting[lane];
    const isAll = found.length < lookAhead;
    waiting[lane] = {
      ids: new Set(isAll ? [...found, ...ids] : found.slice(0, lookAhead)),
      known: isAll || known === 'any' ? known : 'longest due',
    };
  }

  /** Queries the database, unless all due ids are known, or at least the first `wanted` ones. */
  async function fill({ keyId, waiting }: Endpoint, lane: Lane, wanted: number): Promise<void> {
    const { ids, known } = waiting[lane];
    if (wanted === 0 || known === 'all' || (known === 'longest due' && ids.size >= wanted)) return;
    // The query may miss what is stored during it.
    waiting[lane] = nothing();
    note(waiting, lane, await find(keyId, lane, lookAhead));
  }

  return {
    /**
     * Notes that an endpoint has due deliveries, which other processes may have stored.
     * @param due the ids of all of them; undefined if a query has to find them
     */
    found(keyId: string, due: Record<Lane, readonly string[]> | undefined): void {
      const endpoint = endpointOf(keyId);
      if (due) for (const lane of lanes) note(endpoint.waiting, lane, due[lane]);
      else doubt(keyId, 'longest due');
      ready.add(endpoint);
    },

    /** Adds a delivery that has just been stored and is due. */
    add(keyId: string, lane: Lane, id: string): void {
      const endpoint = endpointOf(keyId);
      const waiting = endpoint.waiting[lane];
      // Among unknown ids the order of this one is unknown too, so the next query finds it.
      if (waiting.known === 'all' && waiting.ids.size < mostKnown) waiting.ids.add(id);
      else if (waiting.known === 'all') waiting.known = 'longest due';
      ready.add(endpoint);
    },

    /** Leases nothing for an endpoint for `ms` milliseconds. Then those go first that have been due longest. */
    hold(keyId: string, ms: number): void {
      doubt(keyId, 'any');
      endpointOf(keyId).heldUntil = performance.now() + ms;
    },

    /** Ends `hold` early. */
    release(keyId: string): void {
      endpointOf(keyId).heldUntil = 0;
      doubt(keyId, 'any');
    },

    /**
     * Takes a slot for a first attempt that is not stored yet.
     * @returns false if it has to wait: no slot is free, the endpoint is held, or other deliveries wait before it
     */
    claim(keyId: string): boolean {
      const endpoint = endpointOf(keyId);
      const isFirst = !hasWaiting(endpoint) && !endpoint.isLeasing && !isHeld(endpoint);
      // Endpoints that are ready come before it in the pool.
      const isFree = capacityOf(endpoint).slots > 0 && ofPool().slots > ready.size;
      if (isFirst && isFree) count(endpoint, 'first', 1);
      else review(endpoint);
      return isFirst && isFree;
    },

    /** The endpoints that can lease now. Each has its slots reserved until `end`. */
    *turns(): Generator<Turn> {
      for (const endpoint of ready) {
        const pool = ofPool();
        if (pool.slots <= 0) return;
        const isIdle = !endpoint.isLeasing && !isHeld(endpoint);
        const capacity = capacityOf(endpoint, pool);
        if (isIdle && canLease(endpoint, capacity)) {
          ready.delete(endpoint);
          endpoint.isLeasing = true;
          reserved += capacity.slots;
          yield { endpoint, ...capacity };
        } else if (!isIdle || !canLease(endpoint, capacityOf(endpoint, unlimited))) {
          // The end of its own lease or attempts makes it ready again, or a later call.
          ready.delete(endpoint);
        }
      }
    },

    /** Removes and returns the ids that a turn may lease, of both lanes alternately. */
    async take({ endpoint, slots, retries }: Turn): Promise<string[]> {
      await Promise.all([fill(endpoint, 'first', slots), fill(endpoint, 'retry', retries)]);
      const { first, retry } = endpoint.waiting;
      const firstIds = [...first.ids].slice(0, slots);
      const retryIds = [...retry.ids].slice(0, retries);
      const retriesFirst = endpoint.inFlight.retry === 0;
      const inTurn = retriesFirst ? alternate(retryIds, firstIds) : alternate(firstIds, retryIds);
      const ids = inTurn.slice(0, slots);
      for (const lane of [first, retry]) for (const id of ids) lane.ids.delete(id);
      return ids;
    },

    /** Ends a turn. The leased deliveries take their slots, and the others become free. */
    end({ endpoint, slots }: Turn, leased: readonly { lane: Lane }[]): void {
      reserved -= slots;
      endpoint.isLeasing = false;
      for (const { lane } of leased) count(endpoint, lane, 1);
      review(endpoint);
    },

    /** Frees the slot of an attempt that has ended. */
    free(keyId: string, lane: Lane): void {
      const endpoint = endpointOf(keyId);
      count(endpoint, lane, -1);
      review(endpoint);
    },
  };
}
