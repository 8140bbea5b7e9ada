import { hash } from 'node:crypto';
import type { Db } from 'mongodb';
import type { IndexDeclaration } from './database/indexes.ts';
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

/** All counters that one name has in one minute: a batch of requests is one operation, whosever they are. */
interface CountersDocument {
  _id: string;
  used: Record<string, number>;
  purgeAt: Date;
}

export const indexes: IndexDeclaration[] = [
  { collection: 'requestWindows', key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];

/** Counters may be lost with the database's process; they are not worth a wait for the journal. */
const unjournaled = { writeConcern: { w: 1, journal: false } } as const;

/** Whoever asks makes up the ids of these: their counters are spread over 64 documents, so that none outgrows 16 MB. */
const countedOfStrangers: ReadonlySet<string> = new Set(['wrong-secret']);

interface Counter {
  document: string;
  field: string;
}

/** Names of counters are digests, so that an id may be anything. */
function counterOf(name: string, id: string, minuteNumber: number): Counter {
  const field = hash('sha256', id, 'base64url').slice(0, 22);
  const document = `${name}:${minuteNumber}`;
  return { document: countedOfStrangers.has(name) ? `${document}:${field.charAt(0)}` : document, field };
}

/** How often each field comes up, by document. */
function additions(counters: readonly Counter[]): Map<string, Map<string, number>> {
  const all = new Map<string, Map<string, number>>();
  for (const { document, field } of counters) {
    const fields = all.get(document) ?? new Map<string, number>();
    all.set(document, fields.set(field, (fields.get(field) ?? 0) + 1));
  }
  return all;
}

const paths = <Value>(fields: Iterable<readonly [string, Value]>) =>
  Object.fromEntries([...fields].map(([field, value]) => [`used.${field}`, value]));

/**
 * Requests per minute in fixed windows on the wall clock, shared by all processes and exact over them.
 * A window known to be full is refused without asking the database again.
 */
export function createRequestLimits(db: Db, clock: { now(): number }): RequestLimit {
  const windows = db.collection<CountersDocument>('requestWindows', unjournaled);
  let seenFull = { start: 0, used: new Map<string, number>() };

  /** Adds to the counters of one document; resolves to what they stood at before. */
  async function add(document: string, fields: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const before = await windows.findOneAndUpdate(
      { _id: document },
      { $inc: paths(fields), $setOnInsert: { purgeAt: new Date(clock.now() + 2 * minute) } },
      {
        upsert: true,
        returnDocument: 'before',
        projection: paths([...fields.keys()].map((field) => [field, 1])),
      },
    );
    return new Map(Object.entries(before?.used ?? {}));
  }

  /** Answers each request with its own number within the window. */
  const count = createStage<Counter, number>({
    async run(counters) {
      const stood = new Map<string, Map<string, number>>();
      const adding = [...additions(counters)].map(async ([document, fields]) => {
        stood.set(document, await add(document, fields));
      });
      await Promise.all(adding);
      return counters.map(({ document, field }) => {
        const number = (stood.get(document)?.get(field) ?? 0) + 1;
        stood.get(document)?.set(field, number);
        return number;
      });
    },
  });

  /** What is known of a counter in the minute of `now`. */
  function knownAt(now: number, name: string, id: string) {
    const start = windowStart(now, minute);
    if (seenFull.start !== start) seenFull = { start, used: new Map() };
    const key = `${name}:${id}`;
    return { start, key, used: seenFull.used.get(key) ?? 0 };
  }

  async function limit(name: string, id: string, max: number): Promise<Allowance> {
    const now = clock.now();
    const { start, key, used: known } = knownAt(now, name, id);
    const retryAfter = secondsUntilRollover(start, minute, now);
    const used = known >= max ? known + 1 : await count(counterOf(name, id, start / minute));
    if (used >= max && seenFull.start === start) seenFull.used.set(key, used);
    return { allowed: used <= max, retryAfter, limit: max, remaining: Math.max(0, max - used) };
  }

  return Object.assign(limit, {
    isFull: (name: string, id: string, max: number) => knownAt(clock.now(), name, id).used >= max,
  });
}
