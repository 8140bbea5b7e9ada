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
  /** Counts additions, so that an older query does not mark the lane as complete. */
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
const nothingDue = (): KnownDue => ({
  ids: new Set(),
  isComplete: true,
  isOutOfOrder: false,
  version: 0,
});

/**
 * Caches due deliveries of each endpoint, so that not every lease needs a query. The entries are hints: another process
 * may have leased any of them, and the lease decides.
 *
 * Measured without the cache: a lone delivery costs 8.2 database commands instead of 6.2. Of 2,500 that fall due together
 * at 100 endpoints, each costs 0.78 instead of 0.15. The database's processor time grows by a tenth to a third.
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
    const idsBefore = known.ids;
    // `add` fills the new set during the query.
    known.ids = new Set();
    const found = await find(keyId, lane, lookAhead);
    // Ids that were added during the query are kept. Older ones that it did not return are no longer due.
    const added = [...known.ids].filter((id) => !idsBefore.has(id));
    known.ids = new Set([...found, ...added]);
    // After a change during the query, its result may be too old.
    if (known.version !== version) return;
    known.isComplete = found.length < lookAhead;
    known.isOutOfOrder = false;
  }

  /** Makes the next lease query the database. */
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
      // A query under way may not see this delivery, so it must not mark the lane as complete.
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
      for (const id of ids) {
        first.ids.delete(id);
        retry.ids.delete(id);
      }
      const more = mayHaveMore(first) || mayHaveMore(retry);
      // Nothing is known to be due, and an endpoint without an entry means the same.
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
