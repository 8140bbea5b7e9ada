import type { Collection, Db } from 'mongodb';
import { attemptTimeoutMs, type SkipReason } from '../../../contracts/webhooks.ts';
import { anyOf, type Read } from '../../platform/database/reads/joint-reads.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../../platform/database/schema/sharding.ts';
import { type Inserted, insertEach, insertMissing } from '../../platform/database/write-groups.ts';
import {
  type Attempt,
  answerRetentionMs,
  type Delivery,
  type Leased,
  type Overdue,
  type StoredEvent,
  skipFor,
} from './delivery.ts';
import { dueQueries } from './due-store.ts';
import { collection as eventCollection } from './event-store.ts';
import type { Verdict } from './retry-schedule.ts';

export const collection = 'deliveries';
const pending = { partialFilterExpression: { status: 'pending' } };
/** The index of failed deliveries by key: with it, the newest of each key is found without reading the others. */
export const failedByKey = { status: 1, keyId: 1, createdAt: -1, _id: -1 } as const;
/** The condition that it serves. Lists of all failed deliveries are not in this order, so the condition names the key. */
export const failedOfAnyKey = { status: 'failed' as const, keyId: { $gt: '' } };
/** The index of overdue attempts by key, and the condition that it serves. Any time is later than 1970. */
export const overdueByKey = { keyId: 1, 'overdue.since': 1 } as const;
export const overdueOfAnyKey = { status: 'pending' as const, 'overdue.since': { $gt: new Date(0) } };
/** An endpoint counts as slow from this p95 on, in milliseconds: a receiver that slows down further begins to time out. */
export const slowFromMs = attemptTimeoutMs / 2;
/** The index of slow deliveries that have arrived, by key, and the condition that it serves. */
export const slowByKey = { keyId: 1, createdAt: -1 } as const;
export const slowOfAnyKey = {
  status: 'delivered' as const,
  'attempts.durationMs': { $gte: slowFromMs },
};

export const indexes: IndexDeclaration[] = [
  { collection, key: { keyId: 1, lane: 1, nextAttemptAt: 1 }, ...pending },
  { collection, key: { nextAttemptAt: 1 }, ...pending },
  { collection, key: { 'overdue.since': 1 }, sparse: true },
  { collection, key: overdueByKey, partialFilterExpression: overdueOfAnyKey },
  { collection, key: { eventId: 1 } },
  { collection, key: { keyId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { partnerId: 1, createdAt: -1, _id: -1 } },
  { collection, key: { status: 1, createdAt: -1, _id: -1 } },
  { collection, key: failedByKey, partialFilterExpression: failedOfAnyKey },
  { collection, key: slowByKey, partialFilterExpression: slowOfAnyKey },
  { collection, key: { createdAt: -1, _id: -1 } },
  { collection, key: { forgetAnswersAt: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];

/** Ids are keyed hashes, so they are distributed evenly. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

export interface Lease {
  token: string;
  now: Date;
  until: Date;
}

const abandonedBy = (now: Date) => ({ status: 'in_flight' as const, 'lease.until': { $lte: now } });
const answersToForget = (now: Date) => ({
  forgetAnswersAt: { $lte: now },
  status: { $ne: 'in_flight' as const },
});

/** Find whether a sweep has work: attempts of ended processes, deliveries that are due until a time, responses to forget. */
export const sweepReads = (now: Date, dueUntil: Date): Read[] =>
  [
    abandonedBy(now),
    { status: 'pending' as const, nextAttemptAt: { $lte: dueUntil } },
    answersToForget(now),
  ].map((filter) => anyOf(collection, filter));

/** The result of an attempt, to be recorded. */
export interface FinishedAttempt {
  delivery: Leased;
  row: Attempt;
  verdict: Verdict;
  at: Date;
}

/** The fields for `$unset` that remove receivers' responses, except the status, from all attempts of a delivery. */
export const unsetAnswers = {
  'attempts.$[].answer': '',
  'attempts.$[].location': '',
  'attempts.$[].retryAfter': '',
} as const;

/** When the responses of a delivery are removed: a week after the first of them. */
function responseExpiry({ forgetAnswersAt }: Delivery, row: Attempt): Pick<Delivery, 'forgetAnswersAt'> {
  const hasAnswer = (row.answer ?? row.location ?? row.retryAfter) !== undefined;
  if (forgetAnswersAt || !hasAnswer) return {};
  return { forgetAnswersAt: new Date(row.at.getTime() + answerRetentionMs) };
}

/** The fields that say what follows after an attempt: the next attempt, or the end. Every later attempt is in the retry lane. */
function fieldsAfter(verdict: Verdict, endedAt: Date): Partial<Delivery> {
  if (verdict.status !== 'pending') return { status: verdict.status, endedAt };
  return { ...verdict, trigger: 'schedule', lane: 'retry' };
}

/** All attempts of a delivery but the last one. `$slice` refuses a length of 0. */
const earlierAttempts = {
  $cond: [
    { $gt: [{ $size: '$attempts' }, 1] },
    { $slice: ['$attempts', 0, { $subtract: [{ $size: '$attempts' }, 1] }] },
    [],
  ],
};

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;

/** Reads and changes deliveries in order to send them. What operators read and change is in `createDeliveryQueryStore`. */
export function createDeliveryStore(db: Db) {
  const deliveries: Collection<Delivery> = db.collection(collection);
  const events = db.collection<StoredEvent>(eventCollection);

  /** The deliveries under a lease, with the bytes to send. Two queries cost the database half as much as a `$lookup`. */
  async function leasedWith(ids: readonly string[], { token }: Lease): Promise<Leased[]> {
    // With the ids, the router of a cluster asks only their shards.
    const leased = await deliveries
      .find<Omit<Leased, 'body'>>({ _id: { $in: [...ids] }, 'lease.token': token })
      .toArray();
    if (leased.length === 0) return [];
    const eventIds = leased.map(({ eventId }) => eventId);
    const found = await events.find({ _id: { $in: eventIds } }, { projection: { body: 1 } }).toArray();
    const bodies = new Map(found.map(({ _id, body }) => [_id, body]));
    // Empty if the event is not stored yet: a first delivery is inserted beside its event.
    return leased.map((delivery) => ({ ...delivery, body: bodies.get(delivery.eventId) ?? '' }));
  }

  return {
    /** Inserts deliveries. A delivery whose id exists is left as it is. */
    insert: (documents: readonly Delivery[]) => insertMissing(deliveries, documents),

    /**
     * Inserts deliveries that this process has leased already. After a lost reply, the second try finds those of the first.
     * @returns the ids of those under this lease. A delivery that existed before is left as it is
     */
    async insertLeased(documents: readonly Leased[], { token }: Lease): Promise<ReadonlySet<string>> {
      if (documents.length === 0) return new Set();
      const stored = documents.map(({ body: _body, parties: _parties, ...delivery }): Delivery => delivery);
      const results = await insertEach(deliveries, stored);
      const idsOf = (result: Inserted) =>
        documents.flatMap(({ _id }, index) => (results[index] === result ? _id : []));
      const existing = idsOf('exists');
      const ours =
        existing.length === 0
          ? []
          : await deliveries.find({ _id: { $in: existing }, 'lease.token': token }).toArray();
      return new Set([...idsOf('inserted'), ...ours.map(({ _id }) => _id)]);
    },

    ...dueQueries(deliveries),

    /**
     * Leases the due ones of these deliveries, and writes their attempt rows in the same update. The update applies only to
     * deliveries that are still pending, so only one of two processes gets a delivery.
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
        // Else the database compares plans for each batch, and may walk the index of due times.
        { hint: { _id: 1 } },
      );
      return leasedWith(ids, lease);
    },

    /**
     * Records results of attempts, all in one statement: it costs the database half as much as one statement for each. An attempt
     * whose lease another process has taken over is not changed.
     */
    async record(finishedAttempts: readonly FinishedAttempt[]): Promise<void> {
      const ids = finishedAttempts.map(({ delivery }) => delivery._id);
      const holders = finishedAttempts.map(({ delivery }) => `${delivery._id} ${delivery.lease.token}`);
      const results = finishedAttempts.map(({ delivery, row, verdict, at }) => ({
        rows: [row],
        fields: { ...fieldsAfter(verdict, at), ...responseExpiry(delivery, row) },
      }));
      const holder = { $concat: ['$_id', ' ', '$lease.token'] };
      const isHeld = { $in: [holder, { $literal: holders }] };
      // A response may contain `$`, so the results are literals.
      const position = { $indexOfArray: [{ $literal: holders }, holder] };
      const result = { $arrayElemAt: [{ $literal: results }, position] };
      await deliveries.updateMany({ _id: { $in: ids }, $expr: isHeld }, [
        { $set: { result } },
        { $set: { attempts: { $concatArrays: [earlierAttempts, '$result.rows'] } } },
        { $replaceWith: { $mergeObjects: ['$$ROOT', '$result.fields'] } },
        { $unset: ['result', 'lease', 'overdue'] },
      ]);
    },

    /**
     * Removes receivers' responses, all of a delivery together, a week after the first one. A delivery in flight is left for
     * later: its process has read that an expiry is set, so it sets none for the next response. That response would stay.
     */
    async forgetAnswers(now: Date): Promise<void> {
      await deliveries.updateMany(answersToForget(now), { $unset: { ...unsetAnswers, forgetAnswersAt: '' } });
    },

    /** Skips a delivery whose endpoint is off. Nothing was sent, so the attempt row is removed. */
    async skip({ _id, lease }: Leased, reason: SkipReason, at: Date): Promise<void> {
      await deliveries.updateOne(
        { _id, 'lease.token': lease.token },
        {
          $set: { status: 'skipped', skipped: skipFor(reason, at), endedAt: at },
          $pop: { attempts: 1 },
          $unset: { lease: '', overdue: '' },
        },
      );
    },

    /**
     * Gives an unused lease back. The attempt row is removed, and the delivery is due at `at`.
     * @param overdue given if `at` is later than the first due time
     */
    async release({ _id, lease }: Leased, at: Date, overdue?: Overdue): Promise<void> {
      await deliveries.updateOne(
        { _id, 'lease.token': lease.token },
        {
          $set: { status: 'pending', nextAttemptAt: at, ...(overdue && { overdue }) },
          $pop: { attempts: 1 },
          $unset: { lease: '', ...(overdue ? {} : { overdue: '' }) },
        },
      );
    },

    /**
     * Makes deliveries due again that were in flight when their process ended. It is unknown whether the POST was sent, so
     * the attempt row stays as `interrupted`, and the same attempt is made again.
     * @returns how many deliveries were made due again
     */
    async recover(now: Date): Promise<number> {
      const interrupted = { $mergeObjects: [{ $last: '$attempts' }, { error: 'interrupted' }] };
      const since = { $ifNull: ['$overdue.since', { $last: '$attempts.dueAt' }] };
      const { modifiedCount } = await deliveries.updateMany(abandonedBy(now), [
        {
          $set: {
            status: 'pending',
            nextAttemptAt: now,
            // Unset before it is set: `$set` would merge the object with an earlier reason.
            overdue: { since, reason: '$$REMOVE' },
            trigger: 'recovery',
            attempts: { $concatArrays: [earlierAttempts, [interrupted]] },
            lease: '$$REMOVE',
          },
        },
      ]);
      return modifiedCount;
    },
  };
}
