import { LRUCache } from 'lru-cache';
import type { Db } from 'mongodb';
import type { IndexDeclaration } from './database/indexes.ts';
import { createGroupCommit } from './group-commit.ts';
import { keyed } from './ids.ts';
import { minute, secondsUntilRollover, windowStart } from './windows.ts';

export interface Allowance {
  allowed: boolean;
  /** Seconds until the minute has rolled over. */
  retryAfter: number;
  limit: number;
  remaining: number;
}

/** Counts one request of `id` against `max` a minute of what `name` names. */
export type RequestLimit = (name: string, id: string, max: number) => Promise<Allowance>;

/** All counters that one name has in one minute: a batch of requests is one operation. */
interface CountersDocument {
  _id: string;
  used: Record<string, number>;
  purgeAt: Date;
}

const collection = 'requestWindows';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];

/** Counters may be lost with the database's process; they are not worth a wait for the journal. */
const unjournaled = { w: 1, j: false } as const;

/** Callers without credentials choose the ids of these: their counters are spread over 8 documents, so that none grows large. */
const chosenByCallers: ReadonlySet<string> = new Set(['wrong-secret', 'start']);

/** Digests that a process remembers: some 2 MB. */
const rememberedDigests = 10_000;

interface Dependencies {
  db: Db;
  clock: { now(): number };
  /** The same for all processes. */
  key: Uint8Array;
}

interface Counter {
  document: string;
  field: string;
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
export function createRequestLimits({ db, clock, key }: Dependencies): RequestLimit {
  let seenFull = { start: 0, used: new Map<string, number>() };

  const digests = new LRUCache<string, Buffer>({ max: rememberedDigests });

  /** Counters are named by a keyed digest: an id may be anything, and a caller cannot choose where it is counted. */
  function counterOf(name: string, id: string, minuteNumber: number): Counter {
    const named = `${name}:${id}`;
    const digest = digests.get(named) ?? keyed(key, ['counter', name, id]);
    // Ids that callers choose can be long and never come again.
    if (!chosenByCallers.has(name)) digests.set(named, digest);
    const field = digest.toString('base64url', 0, 16);
    const document = `${name}:${minuteNumber}`;
    return {
      document: chosenByCallers.has(name) ? `${document}:${(digest[16] ?? 0) % 8}` : document,
      field,
    };
  }

  /**
   * Adds to the counters of one document; resolves to what they stood at before. A bare command: a retryable write would
   * make the database keep a copy of the whole document.
   */
  async function add(document: string, fields: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    const purgeAt = new Date(clock.now() + 2 * minute);
    const { value } = await db.command({
      findAndModify: collection,
      query: { _id: document },
      update: { $inc: paths(fields), $setOnInsert: { purgeAt } },
      fields: paths([...fields.keys()].map((field) => [field, 1])),
      upsert: true,
      writeConcern: unjournaled,
    });
    return new Map(Object.entries((value as CountersDocument | null)?.used ?? {}));
  }

  /** Answers each request with its own number within the window; where its document could not be changed, by the error. */
  async function countAll(counters: readonly Counter[]): Promise<(number | Error)[]> {
    const stood = new Map<string, Map<string, number> | Error>();
    const adding = [...additions(counters)].map(async ([document, fields]) => {
      stood.set(document, await add(document, fields).catch((error: Error) => error));
    });
    await Promise.all(adding);
    return counters.map(({ document, field }) => {
      const fields = stood.get(document);
      if (fields instanceof Error) return fields;
      const number = (fields?.get(field) ?? 0) + 1;
      fields?.set(field, number);
      return number;
    });
  }

  /** A group commit for each name, so that the counters of one do not wait for another's. */
  const commits = new Map<string, (counter: Counter) => Promise<number>>();
  function count(name: string, counter: Counter): Promise<number> {
    const commit = commits.get(name) ?? createGroupCommit<Counter, number>({ run: countAll });
    commits.set(name, commit);
    return commit(counter);
  }

  /** The state of a counter in the minute of `now`. */
  function knownAt(now: number, name: string, id: string) {
    const start = windowStart(now, minute);
    if (seenFull.start !== start) seenFull = { start, used: new Map() };
    const key = `${name}:${id}`;
    return { start, key, used: seenFull.used.get(key) ?? 0 };
  }

  return async function limit(name: string, id: string, max: number): Promise<Allowance> {
    const now = clock.now();
    const { start, key, used: known } = knownAt(now, name, id);
    const retryAfter = secondsUntilRollover(start, minute, now);
    if (known >= max) return { allowed: false, retryAfter, limit: max, remaining: 0 };
    const used = await count(name, counterOf(name, id, start / minute));
    if (used >= max && seenFull.start === start) seenFull.used.set(key, used);
    return { allowed: used <= max, retryAfter, limit: max, remaining: Math.max(0, max - used) };
  };
}
