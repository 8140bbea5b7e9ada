import type { Room } from './concurrency-limits.ts';
import type { Lane } from './delivery.ts';

/** Looks for what is due for an endpoint, the longest due first. */
type Find = (keyId: string, lane: Lane, limit: number) => Promise<string[]>;

/** What waits in one lane: ids that are due, or were, and whether there may be others. */
interface Line {
  ids: Set<string>;
  complete: boolean;
  /** Counts what was added, so that a look that began before is not taken for the last word. */
  version: number;
}

type Lines = Record<Lane, Line>;

/** What an endpoint is to lease. `more`: something may be left. */
export interface Choice {
  ids: string[];
  more: boolean;
}

/** How many to know of ahead: one look serves for ten rounds of an endpoint's slots. */
const lookAhead = 50;
const mostKnown = 1000;

const emptyLine = (): Line => ({ ids: new Set(), complete: true, version: 0 });

/**
 * Knows for each endpoint some of what is due, so that not every lease has to look. Only hints: another process
 * may have taken any of them, and the lease decides.
 */
export function createCandidates(find: Find) {
  const endpoints = new Map<string, Lines>();

  function linesOf(keyId: string): Lines {
    const lines = endpoints.get(keyId) ?? { first: emptyLine(), retry: emptyLine() };
    endpoints.set(keyId, lines);
    return lines;
  }

  async function fill(keyId: string, lane: Lane, wanted: number): Promise<void> {
    const line = linesOf(keyId)[lane];
    if (line.complete || line.ids.size >= wanted) return;
    const { version } = line;
    const before = line.ids;
    line.ids = new Set();
    const found = await find(keyId, lane, lookAhead);
    // Keep ids added during the query; drop older ones that it did not return.
    const came = [...line.ids].filter((id) => !before.has(id));
    line.ids = new Set([...found, ...came]);
    line.complete = found.length < lookAhead && line.version === version;
  }

  return {
    /** This one has just been stored, due at once. */
    offer(keyId: string, lane: Lane, id: string): void {
      const line = linesOf(keyId)[lane];
      line.version += 1;
      if (line.ids.size < mostKnown) line.ids.add(id);
      else line.complete = false;
    },

    /** Something may be due that is not known here. */
    doubt(keyId: string): void {
      for (const line of Object.values(linesOf(keyId))) {
        line.version += 1;
        line.complete = false;
      }
    },

    /** Takes out what fits into the room, from both lanes in turn; looks for it where too little is known. */
    async take({ keyId, slots, retries, prefer }: Room): Promise<Choice> {
      await Promise.all([fill(keyId, 'first', slots), fill(keyId, 'retry', retries)]);
      const { first, retry } = linesOf(keyId);
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

/** Takes from both in turn, the first list first, so that neither keeps the other waiting. */
function alternate<T>(first: readonly T[], second: readonly T[]): T[] {
  const longer = Math.max(first.length, second.length);
  return Array.from({ length: longer }, (_, at) => [first[at], second[at]])
    .flat()
    .filter((item) => item !== undefined);
}
