import type { AnyBulkWriteOperation, Collection, Db, Filter } from 'mongodb';
import type { SkipReason } from '../../../contracts/webhooks.ts';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/sharding.ts';
import { insertMissing } from '../../platform/database/write-groups.ts';
import { type Attempt, answerRetentionMs, type Delivery, type Lane, type Leased } from './delivery.ts';
import type { Verdict } from './retry-schedule.ts';

const collection = 'deliveries';
const pending = { partialFilterExpression: { status: 'pending' } };
/** The most deliveries that a search for due keys reads. */
const mostLookedAt = 2_000;
/** The most deliveries that one of its queries reads. */
const deliveriesPerQuery = 500;

export const indexes: IndexDeclaration[] = [
  { collection, key: { keyId: 1, lane: 1, nextAttemptAt: 1 }, ...pending },
  { collection, key: { nextAttemptAt: 1 }, ...pending },
  { collection, key: { 'lease.until': 1 }, sparse: true },
  { collection, key: { 'lease.token': 1 }, sparse: true },
  { collection, key: { eventId: 1 } },
  { collection, key: { keyId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { status: 1, createdAt: -1, _id: -1 } },
  { collection, key: { createdAt: -1, _id: -1 } },
  { collection, key: { forgetAnswersAt: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];

/** Ids are keyed hashes: they spread evenly. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

export interface Lease {
  token: string;
  now: Date;
  until: Date;
}

/** The end of an attempt, as it is recorded. */
export interface Ending {
  delivery: Leased;
  row: Attempt;
  verdict: Verdict;
  at: Date;
}

/** What receivers answered besides the status, in all attempts of a delivery. */
export const answersOfAttempts = {
  'attempts.$[].answer': '',
  'attempts.$[].location': '',
  'attempts.$[].retryAfter': '',
} as const;

/** When the answers of a delivery are removed: a week after the first of them. */
function forgetting({ forgetAnswersAt }: Delivery, row: Attempt): Pick<Delivery, 'forgetAnswersAt'> {
  const hasAnswer = (row.answer ?? row.location ?? row.retryAfter) !== undefined;
  if (forgetAnswersAt || !hasAnswer) return {};
  return { forgetAnswersAt: new Date(row.at.getTime() + answerRetentionMs) };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

export function createDeliveryStore(db: Db) {
  const deliveries: Collection<Delivery> = db.collection(collection);

  /** What the token holds, with the bytes to send, in the order in which it fell due. */
  function held(ids: readonly string[], { token }: Lease): Promise<Leased[]> {
    return deliveries
      .aggregate<Leased>([
        // The ids name the shards.
        { $match: { _id: { $in: [...ids] }, 'lease.token': token } },
        { $lookup: { from: 'events', localField: 'eventId', foreignField: '_id', as: 'event' } },
        { $set: { body: { $first: '$event.body' } } },
        { $unset: 'event' },
      ])
      .toArray();
  }

  /** By the index, key after key: from a full page on, it leaps over what else the page's last key has. */
  async function keysFromIndex(due: Filter<Delivery>): Promise<string[]> {
    const keys = new Set<string>();
    for (let after = ''; ; ) {
      const found = await deliveries
        .find(
          { ...due, keyId: { $gt: after }, lane: { $in: ['first', 'retry'] } },
          { projection: { _id: 0, keyId: 1 }, hint: { keyId: 1, lane: 1, nextAttemptAt: 1 } },
        )
        .sort({ keyId: 1 })
        .limit(deliveriesPerQuery)
        .toArray();
      for (const { keyId } of found) keys.add(keyId);
      if (found.length < deliveriesPerQuery) return [...keys];
      after = found.at(-1)?.keyId ?? after;
    }
  }

  return {
    /** How many deliveries are not finished, and since when the oldest of them has been due. */
    async queue(): Promise<{ pending: number; oldestDueAt?: Date }> {
      const open = { status: { $in: ['pending' as const, 'in_flight' as const] } };
      const [pending, oldest] = await Promise.all([
        deliveries.countDocuments(open),
        deliveries
          .find({ status: 'pending' }, { hint: { nextAttemptAt: 1 } })
          .sort({ nextAttemptAt: 1 })
          .limit(1)
          .next(),
      ]);
      return { pending, ...(oldest?.nextAttemptAt ? { oldestDueAt: oldest.nextAttemptAt } : {}) };
    },

    insert: (documents: readonly Delivery[]) => insertMissing(deliveries, documents),

    /** Ids of what is due for an endpoint, the longest due first. */
    async due(keyId: string, lane: Lane, { now, limit }: { now: Date; limit: number }): Promise<string[]> {
      const found = await deliveries
        .find({ status: 'pending', keyId, lane, nextAttemptAt: { $lte: now } })
        .sort({ nextAttemptAt: 1 })
        .project<Pick<Delivery, '_id'>>({ _id: 1 })
        .limit(limit)
        .toArray();
      return found.map(({ _id }) => _id);
    },

    /**
     * Leases those of these deliveries that are due, with the attempt row written in the same update. One
     * compare-and-set: of two processes that try the same delivery, one gets it.
     */
    async lease(ids: readonly string[], lease: Lease): Promise<Leased[]> {
      const row = { attempt: '$attempt', trigger: '$trigger', dueAt: '$nextAttemptAt', at: lease.now };
      await deliveries.updateMany(
        { _id: { $in: [...ids] }, status: 'pending', nextAttemptAt: { $lte: lease.now } },
        [
          {
            $set: {
              status: 'in_flight',
              lease: { token: { $literal: lease.token }, until: lease.until },
              attempts: { $concatArrays: ['$attempts', [row]] },
              nextAttemptAt: '$$REMOVE',
            },
          },
        ],
      );
      return held(ids, lease);
    },

    /** Records how attempts ended. An attempt whose lease another process has taken over is left to that process. */
    async record(endings: readonly Ending[]): Promise<void> {
      const writes = endings.map(({ delivery, row, verdict, at }): AnyBulkWriteOperation<Delivery> => {
        const { nextAttemptAt, attempt } = {
          nextAttemptAt: undefined,
          attempt: delivery.attempt,
          ...verdict,
        };
        const next = nextAttemptAt
          ? { nextAttemptAt, attempt, trigger: 'schedule' as const, lane: 'retry' as const }
          : { endedAt: at };
        return {
          updateOne: {
            filter: { _id: delivery._id, 'lease.token': delivery.lease.token },
            update: {
              $set: {
                status: verdict.status,
                [`attempts.${delivery.attempts.length - 1}`]: row,
                ...next,
                ...forgetting(delivery, row),
              },
              $unset: { lease: '' },
            },
          },
        };
      });
      await deliveries.bulkWrite(writes, { ordered: false });
    },

    /** Removes the answers of attempts that are a week old: those of a delivery together, from its first one on. */
    async forgetAnswers(now: Date): Promise<void> {
      await deliveries.updateMany(
        { forgetAnswersAt: { $lte: now }, status: { $ne: 'in_flight' } },
        { $unset: { ...answersOfAttempts, forgetAnswersAt: '' } },
      );
    },

    /** The endpoint was off: nothing was sent, so the attempt row goes. */
    async skip({ _id, lease }: Leased, reason: SkipReason, at: Date): Promise<void> {
      await deliveries.updateOne(
        { _id, 'lease.token': lease.token },
        {
          $set: { status: 'skipped', skipped: { reason, at }, endedAt: at },
          $pop: { attempts: 1 },
          $unset: { lease: '' },
        },
      );
    },

    /** Gives a lease back unused: the attempt row goes, and the delivery is due at `at`. */
    async release({ _id, lease }: Leased, at: Date): Promise<void> {
      await deliveries.updateOne(
        { _id, 'lease.token': lease.token },
        { $set: { status: 'pending', nextAttemptAt: at }, $pop: { attempts: 1 }, $unset: { lease: '' } },
      );
    },

    /**
     * Makes due again what a process had in flight when it ended. Whether its POST went out is not known, so the
     * row stays, as interrupted, and the same attempt is made again.
     * @returns how many
     */
    async recover(now: Date): Promise<number> {
      const last = { $mergeObjects: [{ $last: '$attempts' }, { error: 'interrupted' }] };
      const before = { $slice: ['$attempts', 0, { $subtract: [{ $size: '$attempts' }, 1] }] };
      const earlier = { $cond: [{ $gt: [{ $size: '$attempts' }, 1] }, before, []] };
      const { modifiedCount } = await deliveries.updateMany(
        { status: 'in_flight', 'lease.until': { $lte: now } },
        [
          {
            $set: {
              status: 'pending',
              nextAttemptAt: now,
              trigger: 'recovery',
              attempts: { $concatArrays: [earlier, [last]] },
              lease: '$$REMOVE',
            },
          },
        ],
      );
      return modifiedCount;
    },

    /** Keys that have something due. What one endpoint has waiting costs the others nothing, however much it is. */
    async dueKeys(now: Date): Promise<string[]> {
      const due = { status: 'pending' as const, nextAttemptAt: { $lte: now } };
      const some = await deliveries
        .find(due, { projection: { _id: 0, keyId: 1 } })
        .sort({ nextAttemptAt: 1 })
        .limit(mostLookedAt)
        .toArray();
      if (some.length < mostLookedAt) return [...new Set(some.map(({ keyId }) => keyId))];
      return keysFromIndex(due);
    },

    /** When the next delivery falls due within a span of time; undefined where none does. */
    async nextDue(after: Date, before: Date): Promise<Date | undefined> {
      const [next] = await deliveries
        .find({ status: 'pending', nextAttemptAt: { $gt: after, $lt: before } })
        .sort({ nextAttemptAt: 1 })
        .limit(1)
        .toArray();
      return next?.nextAttemptAt;
    },

    /** Whether anything has been due since before `at`. */
    async isOverdue(at: Date): Promise<boolean> {
      const one = await deliveries.findOne(
        { status: 'pending', nextAttemptAt: { $lt: at } },
        { projection: { _id: 1 } },
      );
      return one !== null;
    },

    /** The seconds from `from` until `until` within which something falls due, by their beginnings. */
    async dueSeconds(from: Date, until: Date): Promise<Date[]> {
      const groups = await deliveries
        .aggregate<{ _id: Date }>([
          { $match: { status: 'pending', nextAttemptAt: { $gte: from, $lte: until } } },
          { $group: { _id: { $dateTrunc: { date: '$nextAttemptAt', unit: 'second' } } } },
          { $sort: { _id: 1 } },
        ])
        .toArray();
      return groups.map(({ _id }) => _id);
    },
  };
}
