import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Db, MongoServerError } from 'mongodb';
import { atMost } from '../../batching/cache-size.ts';
import { groupBy } from '../../batching/group-by.ts';
import { duplicateKey } from '../../database/failures.ts';
import type { IndexDeclaration } from '../../database/schema/indexes.ts';
import type { ShardDeclaration } from '../../database/schema/sharding.ts';

/** The requests of one id, within one limit and one minute. */
interface Counter {
  _id: string;
  used: number;
  purgeAt: Date;
  /** For each process, the number of its last batch that changed this counter. */
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
  /** The counter's `_id`, made of the caller's id, the name of the limit and the minute. */
  counter: string;
  waiting: number;
  /** How many later requests the process reserves, if the limit allows all of them. */
  reserved: number;
  /** The lowest limit of the requests in the group. */
  max: number;
}

/**
 * The result for a group. `admitted`: the waiting and the reserved requests are within the limit and were counted. Otherwise,
 * only the waiting ones were counted, and `count` is the value that the counter had before them.
 */
export type Counted = 'admitted' | { count: number } | Error;

interface Reply {
  n: number;
  writeErrors?: { index: number; code: number; errmsg: string }[];
}

/** By how much a group increases its counter, if the limit allows it. */
const increaseOf = ({ waiting, reserved }: RequestGroup) => waiting + reserved;

/**
 * The `requestWindows` collection, with a document for each counter. One statement for each counter costs five times as
 * much as a shared statement, so shared statements are tried first.
 */
export function createRequestCounters(db: Db) {
  const knownToExist = new LRUCache<string, true>(atMost(rememberedCounters));
  /** The field in which this process writes the number of a batch into the counters that the batch has changed. */
  const batchField = `by.${randomBytes(6).toString('base64url')}`;
  let lastBatch = 0;
  // The writes wait for no majority. A majority read might therefore miss the number of a batch that was just written.
  const counters = db.collection<Counter>(collection, { readConcern: { level: 'local' } });

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

  /** Adds each group that stays within its limit. @returns the groups that were not added */
  async function addWithin(groups: readonly RequestGroup[]): Promise<RequestGroup[]> {
    if (groups.length === 0) return [];
    lastBatch += 1;
    const batch = lastBatch;
    // Groups with the same increase and limit share a statement.
    const alike = groupBy(groups, (group) => `${increaseOf(group)} of ${group.max}`);
    const updates = [...alike.values()].map((sharing) => {
      const [{ max }] = sharing;
      const increase = increaseOf(sharing[0]);
      return {
        q: { _id: { $in: sharing.map(({ counter }) => counter) }, used: { $lte: max - increase } },
        u: { $inc: { used: increase }, $set: { [batchField]: batch } },
        multi: true,
      };
    });
    const { n } = (await send({ update: collection, updates, ordered: false })) as Reply;
    if (n === groups.length) return [];
    // The reply tells only how many counters were changed. Those that were changed have the number of the batch.
    const ids = groups.map(({ counter }) => counter);
    const changed = await counters.distinct('_id', { _id: { $in: ids }, [batchField]: batch });
    return groups.filter(({ counter }) => !changed.includes(counter));
  }

  /** Adds the waiting requests of a group, even above the limit, because the first of them may be within it. */
  async function addWaiting({ counter, waiting }: RequestGroup, purgeAt: Date): Promise<{ count: number }> {
    // The reply has the document as it was before, or null if the counter is new.
    const { value } = (await send({
      findAndModify: collection,
      query: { _id: counter },
      update: { $inc: { used: waiting }, $setOnInsert: { purgeAt } },
      fields: { used: 1 },
      upsert: true,
    })) as { value: Counter | null };
    return { count: value?.used ?? 0 };
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
    const isTooLarge = (group: RequestGroup) => increaseOf(group) > group.max;
    const exists = ({ counter }: RequestGroup) => knownToExist.get(counter) === true;
    const existing = groups.filter((group) => !isTooLarge(group) && exists(group));
    const perhapsNew = groups.filter((group) => !isTooLarge(group) && !exists(group));
    const notAdded = await Promise.all([addWithin(existing), insertNew(perhapsNew, purgeAt).then(addWithin)]);
    const notAdmitted = [...groups.filter(isTooLarge), ...notAdded.flat()];
    const results = new Map<string, Counted>(groups.map(({ counter }) => [counter, 'admitted']));
    const addOne = async (group: RequestGroup) => {
      const counted = await addWaiting(group, purgeAt).catch((error: Error) => error);
      results.set(group.counter, counted);
    };
    await Promise.all(notAdmitted.map(addOne));
    return results;
  };
}
