import type { Collection, Db, Document } from 'mongodb';
import type { BulkAction, BulkFilter } from '../../../contracts/admin/bulk.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';
import { createRecordStore, recordIndexes } from '../../platform/database/records.ts';
import { queryOf } from '../operators/delivery-query-store.ts';
import { countByKey, type KeyCount } from '../operators/key-count-store.ts';
import { type BulkJob, nextPart, type Part } from './bulk-job.ts';

const collection = 'bulkJobs';
const paceCollection = 'bulkPaces';

export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { nextAt: 1 }, sparse: true },
  { collection, key: { fingerprint: 1 }, unique: true, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
  { collection: paceCollection, key: { next: 1 }, expireAfterSeconds: 3_600 },
];

/** If more deliveries match, a count does not look up which events are delivered, so it is an upper bound. */
const mostLookedUp = 20_000;
/** An event with a delivery in one of these statuses is not resent, because it has arrived or may still arrive. */
const settled = ['pending', 'in_flight', 'delivered'];

/** The time from which a key's next delivery of bulk work may be sent. */
interface Pace {
  _id: string;
  next: Date;
}

/** A step of a job that this process has leased. */
export interface Step {
  job: BulkJob;
  part: Part;
  /** The index of the part in the job. */
  index: number;
}

const statusOf = (action: BulkAction, { status }: BulkFilter): string =>
  action === 'resend' ? (status ?? 'failed') : 'pending';

/** The query for the documents of a job: events for a replay, deliveries for other actions. */
export function bulkQuery(action: BulkAction, { status, ...filter }: BulkFilter): Document {
  const narrowed = queryOf(filter);
  return action === 'replay' ? narrowed : { ...narrowed, status: statusOf(action, { status }) };
}

export type BulkStore = ReturnType<typeof createBulkStore>;

/** The store of bulk jobs. @param counting the same database through connections with a longer timeout */
export function createBulkStore(db: Db, counting: Db = db) {
  const jobs: Collection<BulkJob> = db.collection(collection);
  const paces: Collection<Pace> = db.collection(paceCollection);
  const records = createRecordStore<BulkJob>(db, collection, 'bulk job');
  const groupByEvent = {
    $group: {
      _id: '$eventId',
      keyId: { $first: '$keyId' },
      partnerId: { $first: '$partnerId' },
      mode: { $first: '$mode' },
    },
  };
  /** Leaves out events that have a delivery in a settled status. */
  const leaveOutSettled = [
    {
      $lookup: {
        from: 'deliveries',
        localField: '_id',
        foreignField: 'eventId',
        pipeline: [{ $match: { status: { $in: settled } } }, { $limit: 1 }, { $project: { _id: 1 } }],
        as: 'settled',
      },
    },
    { $match: { settled: [] } },
  ];

  /** Whether few enough deliveries match to look up the other deliveries of their events. */
  async function canLeaveOutSettled(query: Document): Promise<boolean> {
    const limit = mostLookedUp + 1;
    return (await counting.collection('deliveries').countDocuments(query, { limit })) < limit;
  }

  return {
    insert: records.insert,
    find: records.find,
    list: records.list,
    change: records.change,

    /** Finds the running job that an earlier, equal call has started. */
    async findRunning(fingerprint: string): Promise<BulkJob | undefined> {
      return (await jobs.findOne({ fingerprint })) ?? undefined;
    },

    /** Finds a job with the same action, an overlapping time span and at least one of these keys. */
    async findOverlapping(
      action: BulkAction,
      { since, until, ...filter }: BulkFilter,
      keyIds: readonly string[],
    ) {
      const overlaps = {
        action,
        ...(filter.status ? { 'filter.status': filter.status } : {}),
        'filter.since': { $lt: until ?? '' },
        'filter.until': { $gt: since ?? '' },
        parts: {
          $elemMatch: { keyId: { $in: [...keyIds] }, $or: [{ done: { $gt: 0 } }, { finished: false }] },
        },
      };
      const found = await jobs
        .find(overlaps as Document, { hint: { createdAt: -1, _id: -1 } })
        .sort({ createdAt: -1, _id: -1 })
        .limit(1)
        .next();
      return found ?? undefined;
    },

    /**
     * Counts what a job would process for each API key, in the order of the keys. A replay and a resend count events.
     * `exact` is false if too many deliveries match: then the count is an upper bound.
     */
    async count(action: BulkAction, filter: BulkFilter): Promise<{ keys: KeyCount[]; exact: boolean }> {
      const query = bulkQuery(action, filter);
      const documents = counting.collection(action === 'replay' ? 'events' : 'deliveries');
      const groupsByEvent = action === 'resend';
      const mustLeaveOutSettled = groupsByEvent && statusOf(action, filter) !== 'delivered';
      const exact = !mustLeaveOutSettled || (await canLeaveOutSettled(query));
      const leavesOutSettled = mustLeaveOutSettled && exact;
      const stages = [...(groupsByEvent ? [groupByEvent] : []), ...(leavesOutSettled ? leaveOutSettled : [])];
      const keys = await countByKey(documents, [{ $match: query }, ...stages]);
      return { exact, keys: keys.toSorted((one, other) => (one.keyId < other.keyId ? -1 : 1)) };
    },

    /** Leases the next due step; undefined if none is due. */
    async lease(token: string, now: Date, until: Date): Promise<Step | undefined> {
      const job = await jobs.findOneAndUpdate(
        { nextAt: { $lte: now } },
        { $set: { nextAt: until, lease: token } },
        { sort: { nextAt: 1 }, returnDocument: 'after' },
      );
      const index = job ? nextPart(job.parts) : -1;
      const part = job?.parts[index];
      return job && part ? { job, part, index } : undefined;
    },

    /** When the next step is due; undefined if no job runs. */
    async nextDue(): Promise<Date | undefined> {
      const [next] = await jobs
        .find({ nextAt: { $gt: new Date(0) } }, { projection: { nextAt: 1 } })
        .sort({ nextAt: 1 })
        .limit(1)
        .toArray();
      return next?.nextAt;
    },

    /** Writes the result of a step, unless another process has taken the step over, or the job was cancelled. */
    async save({ job, index }: Omit<Step, 'part'>, part: Part, now: Date): Promise<void> {
      const parts = job.parts.with(index, part);
      const next = parts[nextPart(parts)];
      const ended = { $set: { [`parts.${index}`]: part, status: 'done' as const, endedAt: now } };
      await jobs.updateOne(
        { _id: job._id, lease: job.lease ?? '', status: 'running' },
        next
          ? { $set: { [`parts.${index}`]: part, nextAt: next.nextAt }, $unset: { lease: '' } }
          : { ...ended, $unset: { lease: '', nextAt: '', fingerprint: '' } },
      );
    },

    /**
     * Reserves `count` places in a key's sequence, which all bulk jobs share.
     * @param spacing milliseconds from one place to the next
     * @returns the time of the first place, not before `now`
     */
    async reserve(
      keyId: string,
      now: Date,
      { count, spacing }: { count: number; spacing: number },
    ): Promise<Date> {
      const change = [{ $set: { next: { $add: [{ $max: ['$next', now] }, Math.ceil(count * spacing)] } } }];
      const options = { upsert: true, returnDocument: 'before' as const };
      const reservePlaces = () => paces.findOneAndUpdate({ _id: keyId }, change, options);
      const previous = await reservePlaces().catch((error: unknown) => {
        // Another process has just made the document of this key.
        if (isDuplicateKey(error)) return reservePlaces();
        throw error;
      });
      return previous && previous.next > now ? previous.next : now;
    },
  };
}
