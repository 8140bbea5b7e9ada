import type { Capacity } from './concurrency-limits.ts';
import type { Lane } from './delivery.ts';

/** Finds due deliveries of an endpoint, the longest due first. */
type Find = (keyId: string, lane: Lane, limit: number) => Promise<string[]>;

/**
 * The known due deliveries of an endpoint in one lane: the one of first attempts, or the one of retries. Another process may
 * have leased some of them.
 */
interface KnownDue {
  ids: Set<string>;
  /** Whether all due ids are known. */
  isComplete: boolean;
  /** Whether unknown ids may have been due longer than the known ones. */
  isOutOfOrder: boolean;
  /** Counts additions and invalidations. After one during a query, the query does not mark the lane as complete. */
  version: number;
}

type KnownByLane = Record<Lane, KnownDue>;

/** Ids that an endpoint leases next. */
export interface Choice {
  ids: string[];
  /** Whether other deliveries of the endpoint may be due. */
  more: boolean;
}

/** How many ids one query reads: ten times the slots of an endpoint. */
const lookAhead = 50;
/** The most ids that are kept of a lane, so that memory is bounded. */
const mostKnown = 1000;

/** The start of a lane: nothing is due, until `add` names a delivery or `invalidate` demands a query. */
const nothingDue = (): KnownDue => ({ ids: new Set(), isComplete: true, isOutOfOrder: false, version: 0 });

/**
 * Caches due deliveries of each endpoint, so that not every lease needs a query. The entries are only hints, because another
 * process may have leased any of them.
 *
 * Without the cache, a lone delivery costs 8.2 database commands instead of 6.2. If 2,500 deliveries to 100 endpoints become
 * due together, each costs 0.78 commands instead of 0.15. The database needs a tenth to a third more processor time.
 */
export function createDueCache(find: Find) {
  const endpoints = new Map<string, KnownByLane>();

  function knownOf(keyId: string): KnownByLane {
    const known = endpoints.get(keyId) ?? { first: nothingDue(), retry: nothingDue() };
    endpoints.set(keyId, known);
    return known;
  }

  /** Queries the database, unless all due ids are known, or at least the first `wanted` ones. */
  async function fill(keyId: string, lane: Lane, wanted: number): Promise<void> {
    const known = knownOf(keyId)[lane];
    const hasFirstWanted = known.ids.size >= wanted && !known.isOutOfOrder;
    if (known.isComplete || hasFirstWanted) return;
    const { version } = known;
    // The query replaces the old ids. `add` fills the new set meanwhile: the query may miss these deliveries.
    known.ids = new Set();
    const found = await find(keyId, lane, lookAhead);
    known.ids = new Set([...found, ...known.ids]);
    if (known.version !== version) return;
    known.isComplete = found.length < lookAhead;
    known.isOutOfOrder = false;
  }

  /** Makes the next lease query the database, where other processes may have stored due deliveries. */
  function invalidate(keyId: string): void {
    for (const known of Object.values(knownOf(keyId))) {
      known.version += 1;
      known.isComplete = false;
    }
  }

  return {
    /** Adds a delivery that has just been stored and is due. */
    add(keyId: string, lane: Lane, id: string): void {
      const known = knownOf(keyId)[lane];
      known.version += 1;
      if (known.ids.size < mostKnown) known.ids.add(id);
      else known.isComplete = false;
    },

    invalidate,

    /**
     * Makes the next lease query the database, and begin with the deliveries that have been due longest. Call this after leases
     * were given back, because those deliveries have been due longer than the known ones.
     */
    reorder(keyId: string): void {
      for (const known of Object.values(knownOf(keyId))) {
        known.isOutOfOrder = true;
      }
      invalidate(keyId);
    },

    /** Removes and returns ids up to the capacity, from both lanes in turn. Queries the database if too few are known. */
    async take({ keyId, slots, retries, prefer }: Capacity): Promise<Choice> {
      await Promise.all([fill(keyId, 'first', slots), fill(keyId, 'retry', retries)]);
      const { first, retry } = knownOf(keyId);
      const firstIds = [...first.ids].slice(0, slots);
      const retryIds = [...retry.ids].slice(0, retries);
      const inTurn = prefer === 'first' ? alternate(firstIds, retryIds) : alternate(retryIds, firstIds);
      const ids = inTurn.slice(0, slots);
      for (const lane of [first, retry]) for (const id of ids) lane.ids.delete(id);
      const more = mayHaveMore(first) || mayHaveMore(retry);
      // An endpoint without an entry has no due deliveries either (`nothingDue`), and needs no memory.
      if (!more) endpoints.delete(keyId);
      return { ids, more };
    },
  };
}

const mayHaveMore = ({ ids, isComplete }: KnownDue): boolean => ids.size > 0 || !isComplete;

/** Merges two lists by taking items from them in turn, beginning with `first`. */
function alternate<T>(first: readonly T[], second: readonly T[]): T[] {
  const length = Math.max(first.length, second.length);
  return Array.from({ length }, (_, index) => [first[index], second[index]])
    .flat()
    .filter((item) => item !== undefined);
}
