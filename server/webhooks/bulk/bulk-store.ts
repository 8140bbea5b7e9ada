import type { Collection, Db, Document } from 'mongodb';
import type { BulkAction, BulkFilter } from '../../../contracts/admin/bulk.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import { createRecordStore, recordIndexes } from '../../platform/database/records.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { collection as deliveryCollection } from '../delivery/delivery-store.ts';
import { collection as eventCollection } from '../delivery/event-store.ts';
import { queryOf } from '../operators/delivery-query-store.ts';
import { countByKey, firstOwner, type KeyCount } from '../operators/schedule/key-count-store.ts';
import { type BulkJob, nextPart, type Part } from './bulk-job.ts';

export const collection = 'bulkJobs';
const paceCollection = 'bulkPaces';

export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { nextAt: 1 }, sparse: true },
  { collection, key: { fingerprint: 1 }, unique: true, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
  // A pace whose time is past has no effect, so it can be deleted.
  { collection: paceCollection, key: { next: 1 }, expireAfterSeconds: 3_600 },
];

/**
 * If a filter finds more deliveries than this, a look-up of the events that have arrived would take too long. They are then
 * counted too.
 */
const mostLookedUp = 20_000;
/** Statuses of deliveries that may still arrive. */
export const underWay = ['pending', 'in_flight'];
/** Statuses of deliveries that have arrived, or may still arrive. */
export const underWayOrDelivered = [...underWay, 'delivered'];

/** Whether a job sends events again even if they were delivered. */
export const sendsDelivered = ({ action, filter }: { action: BulkAction; filter: BulkFilter }): boolean =>
  action === 'replay' || filter.status === 'delivered';

/** The time from which a key's next delivery of bulk work may be sent. */
interface Pace {
  _id: string;
  next: Date;
}

/** The documents that a filter matches, counted for each API key. */
export interface Counted {
  keys: KeyCount[];
  /** False if the counts are upper bounds, because they include events that have arrived. */
  exact: boolean;
}

/** A step of a job that this process has leased. */
export interface Step {
  /** The token of the lease. */
  token: string;
  job: BulkJob;
  part: Part;
}

/**
 * The status of the deliveries that a job processes. Only the filter of a resend may contain a status, and `failed` is the
 * default. All other actions are for pending deliveries.
 */
export const statusToProcess = (action: BulkAction, { status = 'failed' }: BulkFilter): string =>
  action === 'resend' ? status : 'pending';

/** The query for the documents of a job: events for a replay, deliveries for other actions. */
export function bulkQuery(action: BulkAction, filter: BulkFilter): Document {
  const { status: _status, ...conditions } = filter;
  const query = queryOf(conditions);
  return action === 'replay' ? query : { ...query, status: statusToProcess(action, filter) };
}

export type BulkStore = ReturnType<typeof createBulkStore>;

/** The store of bulk jobs. @param counting the same database through connections with a longer timeout */
export function createBulkStore(db: Db, counting: Db = db) {
  const jobs: Collection<BulkJob> = db.collection(collection);
  const paces: Collection<Pace> = db.collection(paceCollection);
  const records = createRecordStore<BulkJob>(db, collection, 'bulk job');
  const groupByEvent = { $group: { _id: '$eventId', keyId: { $first: '$keyId' }, ...firstOwner } };
  /** Leaves out events that have arrived at the URL of the job, or may still arrive, as the steps of the job will do. */
  const leaveOutArriving = (to: string | undefined) => [
    {
      $lookup: {
        from: deliveryCollection,
        localField: '_id',
        foreignField: 'eventId',
        pipeline: [
          { $match: { status: { $in: underWayOrDelivered }, to: to ?? null } },
          { $limit: 1 },
          { $project: { _id: 1 } },
        ],
        as: 'arriving',
      },
    },
    { $match: { arriving: [] } },
  ];

  /** Whether the query finds few enough deliveries to look up the other deliveries of their events. */
  async function findsFew(query: Document): Promise<boolean> {
    const limit = mostLookedUp + 1;
    return (await counting.collection(deliveryCollection).countDocuments(query, { limit })) < limit;
  }

  return {
    ...records,

    /** Finds the running job that an earlier, equal call has started. */
    async findRunning(fingerprint: string): Promise<BulkJob | undefined> {
      return (await jobs.findOne({ fingerprint })) ?? undefined;
    },

    /**
     * Finds a job with the same action and URL, an overlapping time span and at least one of these keys. A job that ended without
     * sending anything to the key does not count.
     */
    async findOverlapping(
      { action, filter: { since, until, status }, to }: Pick<BulkJob, 'action' | 'filter' | 'to'>,
      keyIds: readonly string[],
    ) {
      const hasSentOrWillSend = { $or: [{ done: { $gt: 0 } }, { finished: false }] };
      const overlaps = {
        action,
        to: to ?? null,
        ...(status ? { 'filter.status': status } : {}),
        'filter.since': { $lt: until },
        'filter.until': { $gt: since },
        parts: { $elemMatch: { keyId: { $in: [...keyIds] }, ...hasSentOrWillSend } },
      };
      // No index serves these conditions. The newest jobs are searched first, and there are few, because old ones are deleted.
      const newestFirst = { createdAt: -1, _id: -1 } as const;
      return (
        (await jobs.findOne(overlaps as Document, { hint: newestFirst, sort: newestFirst })) ?? undefined
      );
    },

    /**
     * Counts what a job would process for each API key, sorted by key: operators see the keys in this order. A replay and a
     * resend count events, the other actions count deliveries.
     */
    async count({ action, filter, to }: Pick<BulkJob, 'action' | 'filter' | 'to'>): Promise<Counted> {
      const query = bulkQuery(action, filter);
      const documents = counting.collection(action === 'replay' ? eventCollection : deliveryCollection);
      const stages: Document[] = [{ $match: query }];
      if (action === 'resend') stages.push(groupByEvent);
      const leavesOutArriving = action === 'resend' && !sendsDelivered({ action, filter });
      const exact = !leavesOutArriving || (await findsFew(query));
      if (leavesOutArriving && exact) stages.push(...leaveOutArriving(to));
      const keys = await countByKey(documents, stages);
      return { exact, keys: keys.toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1)) };
    },

    /**
     * Leases the next due step; undefined if none is due. While the step is taken, `nextAt` of the job is the end of the lease.
     * If the process ends without saving the step, the job is due again at that time.
     */
    async lease(token: string, now: Date, until: Date): Promise<Step | undefined> {
      const job = await jobs.findOneAndUpdate(
        { nextAt: { $lte: now } },
        { $set: { nextAt: until, lease: token } },
        { sort: { nextAt: 1 }, returnDocument: 'after' },
      );
      if (!job) return undefined;
      const part = nextPart(job.parts);
      return part && { token, job, part };
    },

    /** When the next step is due; undefined if no job runs. */
    async nextDue(): Promise<Date | undefined> {
      // Only running jobs have `nextAt`. The condition on it lets the query use its sparse index.
      const running = { nextAt: { $gt: new Date(0) } };
      const next = await jobs.findOne(running, { sort: { nextAt: 1 }, projection: { nextAt: 1 } });
      return next?.nextAt;
    },

    /** Writes the result of a step, unless another process has taken the step over, or the job was cancelled. */
    async save({ job, token }: Step, part: Part, now: Date): Promise<void> {
      const { keyId } = part;
      const next = nextPart(job.parts.map((other) => (other.keyId === keyId ? part : other)));
      const state = next ? { nextAt: next.nextAt } : { status: 'done' as const, endedAt: now };
      // A job that is done has no fingerprint, so that the same call can start another job.
      const obsolete = next ? {} : { nextAt: '' as const, fingerprint: '' as const };
      await jobs.updateOne(
        { _id: job._id, lease: token, status: 'running', 'parts.keyId': keyId },
        { $set: { 'parts.$': part, ...state }, $unset: { lease: '', ...obsolete } },
      );
    },

    /**
     * Reserves the time for `count` deliveries of a key, after the times that all bulk jobs of the key have reserved before.
     * @param intervalMs milliseconds from one delivery to the next
     * @returns the time of the first delivery, not before `now`
     */
    async reserve(
      keyId: string,
      now: Date,
      { count, intervalMs }: { count: number; intervalMs: number },
    ): Promise<Date> {
      // A new document has no `next`, and `$max` ignores a missing field.
      const firstTime = { $max: ['$next', now] };
      const change = [{ $set: { next: { $add: [firstTime, Math.ceil(count * intervalMs)] } } }];
      const reserveTime = () =>
        paces.findOneAndUpdate({ _id: keyId }, change, { upsert: true, returnDocument: 'before' });
      const before = await reserveTime().catch((error: unknown) => {
        // Another process has just made the document of this key, so the second call updates it.
        if (isDuplicateKey(error)) return reserveTime();
        throw error;
      });
      return before && before.next > now ? before.next : now;
    },
  };
}
