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
  /** The marks of processes, see `mark`: for each process, the number of its last batch that changed this counter. */
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
export interface RequestGroup {
  /** The counter's `_id`, made of the id, the limit and the minute. */
  counter: string;
  /** How many requests are waiting. */
  waiting: number;
  /** How many later requests to count in advance, if the limit allows all of them. */
  inAdvance: number;
  /** The lowest limit of the requests in the group. */
  max: number;
}

/**
 * The result for a group. `admitted`: its waiting requests, and those in advance, are within the limit. `countBefore`: they
 * are not all within it. Only the waiting ones were counted, and the counter had this value before them.
 */
export type Counted = 'admitted' | { countBefore: number } | Error;

interface Reply {
  n: number;
  writeErrors?: { index: number; code: number; errmsg: string }[];
}

/** By how much a group increases its counter, if the limit allows it. */
const increaseOf = ({ waiting, inAdvance }: RequestGroup) => waiting + inAdvance;

/** Groups with the same increase and limit, which share a statement. */
function groupAlike(groups: readonly RequestGroup[]): Iterable<RequestGroup[]> {
  return groupBy(groups, (group) => `${increaseOf(group)} of ${group.max}`).values();
}

/**
 * The `requestWindows` collection, with a document for each counter. One statement for each counter costs five times as
 * much as a shared statement, so shared statements are tried first.
 */
export function createRequestCounters(db: Db) {
  // A majority read might not see a mark that was just written.
  const counters = db.collection<Counter>(collection, { readConcern: { level: 'local' } });
  const knownToExist = new LRUCache<string, true>({ max: rememberedCounters });
  /** The field in which this process writes the number of a batch into the counters that the batch has changed. */
  const mark = `by.${randomBytes(6).toString('base64url')}`;
  let lastBatch = 0;

  /** Sends a plain command. The driver would make it a retryable write, for which the database keeps a record. */
  const send = (command: object) => db.command({ ...command, writeConcern: unjournaled });

  /** Inserts the counters that do not exist. @returns the groups whose counter exists already */
  async function insertNew(groups: readonly RequestGroup[], purgeAt: Date): Promise<RequestGroup[]> {
    if (groups.length === 0) return [];
    const documents = groups.map((group) => ({ _id: group.counter, used: increaseOf(group), purgeAt }));
    const { writeErrors = [] } = (await send({ insert: collection, documents, ordered: false })) as Reply;
    const failure = writeErrors.find(({ code }) => code !== duplicateKey);
    if (failure) throw new MongoServerError(failure);
    // Whether inserted now or refused as a duplicate, each counter exists.
    for (const { counter } of groups) knownToExist.set(counter, true);
    return writeErrors.flatMap(({ index }) => groups[index] ?? []);
  }

  /**
   * Adds each group that stays within its limit.
   * @returns the groups that were not added
   */
  async function addWithin(groups: readonly RequestGroup[]): Promise<RequestGroup[]> {
    if (groups.length === 0) return [];
    lastBatch += 1;
    const batch = lastBatch;
    const updates: object[] = [];
    for (const alike of groupAlike(groups)) {
      const [first] = alike;
      if (!first) continue;
      const counterIds = alike.map(({ counter }) => counter);
      const increase = increaseOf(first);
      updates.push({
        q: { _id: { $in: counterIds }, used: { $lte: first.max - increase } },
        u: { $inc: { used: increase }, $set: { [mark]: batch } },
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

  /**
   * Adds the waiting requests of a group, even above the limit, because the first of them may be within it.
   * @returns the count before the addition
   */
  async function addWaiting({ counter, waiting }: RequestGroup, purgeAt: Date): Promise<number> {
    const { value } = (await send({
      findAndModify: collection,
      query: { _id: counter },
      update: { $inc: { used: waiting }, $setOnInsert: { purgeAt } },
      fields: { used: 1 },
      upsert: true,
    })) as { value: Counter | null };
    return value?.used ?? 0;
  }

  /**
   * Counts a batch of requests, with at most one group for each counter. If a counter cannot be changed, only its group
   * fails.
   * @param purgeAt when new counters can be deleted
   * @returns the result for each group, by its counter
   */
  return async function count(
    groups: readonly RequestGroup[],
    purgeAt: Date,
  ): Promise<ReadonlyMap<string, Counted>> {
    const isKnown = ({ counter }: RequestGroup) => knownToExist.get(counter) === true;
    // A group that is larger than its limit cannot be admitted as a whole.
    const candidates = groups.filter((group) => increaseOf(group) <= group.max);
    const existing = candidates.filter(isKnown);
    const perhapsNew = candidates.filter((group) => !isKnown(group));
    const notAdded = await Promise.all([addWithin(existing), insertNew(perhapsNew, purgeAt).then(addWithin)]);
    const admitted = new Set(candidates);
    for (const group of notAdded.flat()) admitted.delete(group);

    const resultOf = async (group: RequestGroup): Promise<Counted> => {
      if (admitted.has(group)) return 'admitted';
      return addWaiting(group, purgeAt).then(
        (countBefore) => ({ countBefore }),
        (error: Error) => error,
      );
    };
    const results = groups.map(async (group) => [group.counter, await resultOf(group)] as const);
    return new Map(await Promise.all(results));
  };
}
