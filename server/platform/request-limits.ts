import type { Db, Document } from 'mongodb';
import type { IndexDeclaration } from './database/indexes.ts';
import { randomRequestId } from './ids.ts';
import { createStage } from './stage.ts';
import { minute, secondsUntilRollover, windowStart } from './windows.ts';

export interface Allowance {
  allowed: boolean;
  /** Seconds until the minute has rolled over. */
  retryAfter: number;
  limit: number;
  remaining: number;
}

export interface RequestLimit {
  /** Counts one request of `id` against `max` a minute of what `name` names. */
  (name: string, id: string, max: number): Promise<Allowance>;
  /** Whether this process knows that the next one is refused, without asking the database. */
  isFull(name: string, id: string, max: number): boolean;
}

interface CounterDocument {
  _id: string;
  used: number;
  before: Record<string, number>;
  purgeAt: Date;
}

export const indexes: IndexDeclaration[] = [
  { collection: 'requestWindows', key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];

/** Counters may be lost with the database's process; they are not worth a wait for the journal. */
const unjournaled = { writeConcern: { w: 1, journal: false } } as const;

function countById(ids: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return counts;
}

/**
 * Requests per minute in fixed windows on the wall clock, shared by all processes and exact over them.
 * A window known to be full is refused without asking the database again.
 */
export function createRequestLimits(db: Db, clock: { now(): number }): RequestLimit {
  const counters = db.collection<CounterDocument>('requestWindows', unjournaled);
  /** Under this name a counter keeps what it stood at before this process last added to it. */
  const self = `p${randomRequestId().slice(4)}`;
  let seenFull = { start: 0, used: new Map<string, number>() };

  type Addition = (by: number) => Document[];

  async function addOne(added: ReadonlyMap<string, number>, add: Addition): Promise<Map<string, number>> {
    const [[id, by] = ['', 0]] = added;
    const options = { upsert: true, returnDocument: 'after' as const };
    const after = await counters.findOneAndUpdate({ _id: id }, add(by), options);
    return new Map([[id, after?.before[self] ?? 0]]);
  }

  async function addMany(added: ReadonlyMap<string, number>, add: Addition): Promise<Map<string, number>> {
    const writes = [...added].map(([id, by]) => ({
      updateOne: { filter: { _id: id }, update: add(by), upsert: true },
    }));
    await counters.bulkWrite(writes, { ordered: false });
    // Others may have added since, but only this process writes under its name, one batch at a time.
    const found = await counters.find({ _id: { $in: [...added.keys()] } }).toArray();
    return new Map(found.map(({ _id, before }) => [_id, before[self] ?? 0]));
  }

  /** Adds every request of the batch; answers each with its own number within the window. */
  const count = createStage<string, number>({
    async run(ids) {
      const added = countById(ids);
      const purgeAt = { $literal: new Date(clock.now() + 2 * minute) };
      const before = { $ifNull: ['$used', 0] };
      const add = (by: number) => [
        { $set: { used: { $add: [before, by] }, [`before.${self}`]: before, purgeAt } },
      ];
      const stood = added.size === 1 ? await addOne(added, add) : await addMany(added, add);
      return ids.map((id) => {
        const number = (stood.get(id) ?? 0) + 1;
        stood.set(id, number);
        return number;
      });
    },
  });

  /** What is known of a counter in the minute of `now`. */
  function knownAt(now: number, name: string, id: string) {
    const start = windowStart(now, minute);
    if (seenFull.start !== start) seenFull = { start, used: new Map() };
    const key = `${name}:${id}:${start / minute}`;
    return { start, key, used: seenFull.used.get(key) ?? 0 };
  }

  async function limit(name: string, id: string, max: number): Promise<Allowance> {
    const now = clock.now();
    const { start, key, used: known } = knownAt(now, name, id);
    const retryAfter = secondsUntilRollover(start, minute, now);
    const used = known >= max ? known + 1 : await count(key);
    if (used >= max) seenFull.used.set(key, used);
    return { allowed: used <= max, retryAfter, limit: max, remaining: Math.max(0, max - used) };
  }

  return Object.assign(limit, {
    isFull: (name: string, id: string, max: number) => knownAt(clock.now(), name, id).used >= max,
  });
}
