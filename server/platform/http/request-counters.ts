import { randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Db, MongoServerError } from 'mongodb';
import { groupBy } from '../batching/group-by.ts';
import { duplicateKey } from '../database/failures.ts';
import type { IndexDeclaration } from '../database/indexes.ts';
import type { ShardDeclaration } from '../database/sharding.ts';

/** What one id has used of one limit in one minute. */
interface Counter {
  _id: string;
  used: number;
  purgeAt: Date;
  /** The number of the last batch that each process has added by a shared statement. */
  by?: Record<string, number>;
}

const collection = 'requestWindows';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];
/** Ids begin with a keyed digest, so that they are spread evenly. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

/** Counters may be lost with the database's process; they are not worth a wait for the journal. */
const unjournaled = { w: 1, j: false } as const;

/** Counters of which a process remembers that they exist: some 2 MB. */
const rememberedCounters = 10_000;

/** Requests that one counter counts together. */
export interface CountedGroup {
  /** The counter's `_id`: of one id, one limit and one minute. */
  counter: string;
  size: number;
  /** Later requests that are counted in advance, where the limit allows all of them. */
  ahead: number;
  /** The lowest of their limits. */
  max: number;
}

/**
 * The result for a group. `admitted`: its requests and those counted in advance are within the limit. A number: the count
 * before the group; nothing was counted in advance.
 */
export type Counted = 'admitted' | number | Error;

interface Reply {
  n: number;
  writeErrors?: { index: number; code: number; errmsg: string }[];
}

const taken = ({ size, ahead }: CountedGroup) => size + ahead;

/**
 * The `requestWindows` collection: a document for each counter.
 * A statement for each counter would cost five times what a shared one does, so shared ones come first.
 */
export function createRequestCounters(db: Db) {
  // A majority read might not show a mark yet.
  const counters = db.collection<Counter>(collection, { readConcern: { level: 'local' } });
  const existing = new LRUCache<string, true>({ max: rememberedCounters });
  /** Names this process in the documents. */
  const mark = `by.${randomBytes(6).toString('base64url')}`;
  let batches = 0;

  /** A bare command: the driver would make it a retryable write, of which the database keeps a record. */
  const send = (command: object) => db.command({ ...command, writeConcern: unjournaled });

  /** Makes the counters that do not exist. @returns the groups of those that do */
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
   * Adds each group that stays within its limit, by one statement for all that take and leave the same.
   * @returns the groups that were not added
   */
  async function addWithin(groups: readonly CountedGroup[]): Promise<CountedGroup[]> {
    if (groups.length === 0) return [];
    batches += 1;
    const batch = batches;
    const updates = [...groupBy(groups, (group) => `${taken(group)} of ${group.max}`).values()].flatMap(
      (alike) => {
        const [first] = alike;
        if (!first) return [];
        return {
          q: { _id: { $in: alike.map(({ counter }) => counter) }, used: { $lte: first.max - taken(first) } },
          u: { $inc: { used: taken(first) }, $set: { [mark]: batch } },
          multi: true,
        };
      },
    );
    const { n } = (await send({ update: collection, updates, ordered: false })) as Reply;
    if (n === groups.length) return [];
    // The reply does not say which: the marks do.
    const ids = groups.map(({ counter }) => counter);
    const marked = await counters
      .find({ _id: { $in: ids }, [mark]: batch }, { projection: { _id: 1 } })
      .toArray();
    const added = new Set(marked.map(({ _id }) => _id));
    return groups.filter(({ counter }) => !added.has(counter));
  }

  /** Adds the requests of a group without a look at its limit. @returns the counter before the addition */
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
   * Counts a batch of requests, at most one group for each counter. One that cannot be changed fails alone.
   * @param purgeAt when counters that are made now can be deleted
   * @returns the result for each group, in their order
   */
  return async function count(groups: readonly CountedGroup[], purgeAt: Date): Promise<Counted[]> {
    const fits = groups.filter((group) => taken(group) <= group.max);
    const [known, fresh] = [true, undefined].map((is) =>
      fits.filter(({ counter }) => existing.get(counter) === is),
    );
    const left = await Promise.all([addWithin(known ?? []), insertNew(fresh ?? [], purgeAt).then(addWithin)]);
    const single = new Set([...left.flat(), ...groups.filter((group) => !fits.includes(group))]);
    const settle = async (group: CountedGroup): Promise<Counted> =>
      single.has(group) ? addOne(group, purgeAt).catch((error: Error) => error) : 'admitted';
    return Promise.all(groups.map(settle));
  };
}
