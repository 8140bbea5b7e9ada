import type { Capacity } from './concurrency-limits.ts';
import type { Lane } from './delivery.ts';

/** Finds due deliveries of an endpoint, the longest due first. */
type Find = (keyId: string, lane: Lane, limit: number) => Promise<string[]>;

/** Known ids of one lane, and whether all due ids are known. Another process may have leased some of them. */
interface KnownDue {
  ids: Set<string>;
  complete: boolean;
  /** Known ids may follow others in the schedule that are not known. */
  outOfOrder: boolean;
  /** Counts additions, so that an older query does not mark the lane as complete. */
  version: number;
}

type KnownByLane = Record<Lane, KnownDue>;

/** Ids that an endpoint leases next. `more`: others may be due. */
export interface Choice {
  ids: string[];
  more: boolean;
}

/** Ids of one query: ten times the slots of an endpoint. */
const lookAhead = 50;
const mostKnown = 1000;

const nothingKnown = (): KnownDue => ({
  ids: new Set(),
  complete: true,
  outOfOrder: false,
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
    const lines = endpoints.get(keyId) ?? { first: nothingKnown(), retry: nothingKnown() };
    endpoints.set(keyId, lines);
    return lines;
  }

  async function fill(keyId: string, lane: Lane, wanted: number): Promise<void> {
    const line = knownOf(keyId)[lane];
    if (line.complete || (line.ids.size >= wanted && !line.outOfOrder)) return;
    const { version } = line;
    const before = line.ids;
    line.ids = new Set();
    const found = await find(keyId, lane, lookAhead);
    // Keep ids added during the query; drop older ones that it did not return.
    const came = [...line.ids].filter((id) => !before.has(id));
    line.ids = new Set([...found, ...came]);
    line.complete = found.length < lookAhead && line.version === version;
    line.outOfOrder &&= line.version !== version;
  }

  return {
    /** Adds a delivery that has just been stored and is due. */
    add(keyId: string, lane: Lane, id: string): void {
      const line = knownOf(keyId)[lane];
      line.version += 1;
      if (line.ids.size < mostKnown) line.ids.add(id);
      else line.complete = false;
    },

    /** Makes the next lease query the database. */
    invalidate(keyId: string): void {
      for (const line of Object.values(knownOf(keyId))) {
        line.version += 1;
        line.complete = false;
      }
    },

    /** Makes the next lease query the database, and begin with what has been due longest: some of it was given back. */
    reorder(keyId: string): void {
      for (const line of Object.values(knownOf(keyId))) {
        line.version += 1;
        line.complete = false;
        line.outOfOrder = true;
      }
    },

    /** Removes and returns ids up to the capacity, from both lanes in turn. Queries where too few are known. */
    async take({ keyId, slots, retries, prefer }: Capacity): Promise<Choice> {
      await Promise.all([fill(keyId, 'first', slots), fill(keyId, 'retry', retries)]);
      const { first, retry } = knownOf(keyId);
      const firsts = [...first.ids].slice(0, slots);
      const allowed = [...retry.ids].slice(0, retries);
      const inTurn = prefer === 'first' ? alternate(firsts, allowed) : alternate(allowed, firsts);
      const ids = inTurn.slice(0, slots);
      let more = false;
      for (const line of [first, retry]) {
        for (const id of ids) line.ids.delete(id);
        more ||= line.ids.size > 0 || !line.complete;
      }
      if (!more) endpoints.delete(keyId);
      return { ids, more };
    },
  };
}

/** Items of both lists in turn, the first list first. */
function alternate<T>(first: readonly T[], second: readonly T[]): T[] {
  const longer = Math.max(first.length, second.length);
  return Array.from({ length: longer }, (_, at) => [first[at], second[at]])
    .flat()
    .filter((item) => item !== undefined);
}
