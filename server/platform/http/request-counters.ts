import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Db, MongoServerError } from 'mongodb';
import { groupBy } from '../batching/group-by.ts';
import { duplicateKey } from '../database/failures.ts';
import type { IndexDeclaration } from '../database/indexes.ts';
import type { ShardDeclaration } from '../database/sharding.ts';

/** The requests of one id, within one limit and one minute. */
interface Counter {
  _id: string;
  used: number;
  purgeAt: Date;
  /** For each process, the number of its last batch that changed this counter by a shared statement. */
  by?: Record<string, number>;
}

const collection = 'requestWindows';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];
/** Ids begin with a keyed digest, so they are distributed evenly. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

/** Counters may be lost when the database crashes. They do not justify a wait for the journal. */
const unjournaled = { w: 1, j: false } as const;

/** How many existing counters a process remembers, about 2 MB. */
const rememberedCounters = 10_000;

/** Requests that are added to one counter together. */
export interface CountedGroup {
  /** The counter's `_id`, made of the id, the limit and the minute. */
  counter: string;
  size: number;
  /** Later requests to count in advance, if the limit allows all of them. */
  ahead: number;
  /** The lowest limit of the requests in the group. */
  max: number;
}

/**
 * The result for a group. `admitted`: all its requests are within the limit, those in advance included. A number: the count
 * before the group; then nothing was counted in advance.
 */
export type Counted = 'admitted' | number | Error;

interface Reply {
  n: number;
  writeErrors?: { index: number; code: number; errmsg: string }[];
}

const taken = ({ size, ahead }: CountedGroup) => size + ahead;

/** Groups of the same size and limit, which share a statement. */
function groupAlike(groups: readonly CountedGroup[]): Iterable<CountedGroup[]> {
  return groupBy(groups, (group) => `${taken(group)} of ${group.max}`).values();
}

/**
 * The `requestWindows` collection, with a document for each counter. One statement for each counter costs five times as
 * much as a shared statement, so shared statements are tried first.
 */
export function createRequestCounters(db: Db) {
  // A majority read might not see a mark that was just written.
  const counters = db.collection<Counter>(collection, { readConcern: { level: 'local' } });
  const existing = new LRUCache<string, true>({ max: rememberedCounters });
  /** The field of this process in the documents. */
  const mark = `by.${randomBytes(6).toString('base64url')}`;
  let batches = 0;

  /** Sends a plain command. The driver would make it a retryable write, for which the database keeps a record. */
  const send = (command: object) => db.command({ ...command, writeConcern: unjournaled });

  /** Inserts the counters that do not exist. @returns the groups whose counter exists already */
  async function insertNew(groups: readonly CountedGroup[], purgeAt: Date): Promise<CountedGroup[]> {
    if (groups.length === 0) return [];
    const documents = groups.map((group) => ({ _id: group.counter, used: taken(group), purgeAt }));
    const { writeErrors = [] } = (await send({ insert: collection, documents, ordered: false })) as Reply;
    const refusal = writeErrors.find(({ code }) => code !== duplicateKey);
    if (refusal) throw new MongoServerError(refusal);
    for (const { counter } of groups) existing.set(counter, true);
    return writeErrors.flatMap(({ index }) => groups[index] ?? []);
  }

  /**
   * Adds each group that stays within its limit.
   * @returns the groups that were not added
   */
  async function addWithin(groups: readonly CountedGroup[]): Promise<CountedGroup[]> {
    if (groups.length === 0) return [];
    batches += 1;
    const batch = batches;
    const updates: object[] = [];
    for (const alike of groupAlike(groups)) {
      const [first] = alike;
      if (!first) continue;
      updates.push({
        q: { _id: { $in: alike.map(({ counter }) => counter) }, used: { $lte: first.max - taken(first) } },
        u: { $inc: { used: taken(first) }, $set: { [mark]: batch } },
        multi: true,
      });
    }
    const { n } = (await send({ update: collection, updates, ordered: false })) as Reply;
    if (n === groups.length) return [];
    // The reply does not tell which groups were added; the marks do.
    const ids = groups.map(({ counter }) => counter);
    const marked = await counters
      .find({ _id: { $in: ids }, [mark]: batch }, { projection: { _id: 1 } })
      .toArray();
    const added = new Set(marked.map(({ _id }) => _id));
    return groups.filter(({ counter }) => !added.has(counter));
  }

  /** Adds the requests of a group, whatever the limit. @returns the count before the addition */
  async function addOne({ counter, size }: CountedGroup, purgeAt: Date): Promise<number> {
    const { value } = (await send({
      findAndModify: collection,
      query: { _id: counter },
      update: { $inc: { used: size }, $setOnInsert: { purgeAt } },
      fields: { used: 1 },
      upsert: true,
    })) as { value: Counter | null };
    return value?.used ?? 0;
  }

  /**
   * Counts a batch of requests, with at most one group for each counter. If a counter cannot be changed, only its group
   * fails.
   * @param purgeAt when new counters can be deleted
   * @returns the result for each group, in the order of `groups`
   */
  return async function count(groups: readonly CountedGroup[], purgeAt: Date): Promise<Counted[]> {
    const isKnown = ({ counter }: CountedGroup) => existing.get(counter) === true;
    const fitting = groups.filter((group) => taken(group) <= group.max);
    const known = fitting.filter(isKnown);
    const unknown = fitting.filter((group) => !isKnown(group));
    const notAdded = await Promise.all([addWithin(known), insertNew(unknown, purgeAt).then(addWithin)]);
    const admitted = new Set(fitting);
    for (const group of notAdded.flat()) admitted.delete(group);
    const resultOf = async (group: CountedGroup): Promise<Counted> => {
      if (admitted.has(group)) return 'admitted';
      return addOne(group, purgeAt).catch((error: Error) => error);
    };
    return Promise.all(groups.map(resultOf));
  };
}
