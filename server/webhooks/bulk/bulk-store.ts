import type { Collection, Db, Document } from 'mongodb';
import type { BulkAction, BulkFilter } from '../../../contracts/admin/bulk.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';
import { createRecordStore, recordIndexes } from '../../platform/database/records.ts';
import { queryOf } from '../operators/delivery-query-store.ts';
import { countByKey, type KeyCount } from '../operators/key-count-store.ts';
import { type BulkJob, nextPart, type Part } from './bulk-job.ts';

const collection = 'bulkJobs';
const paces = 'bulkPaces';

export const indexes: IndexDeclaration[] = [
  ...recordIndexes(collection),
  { collection, key: { nextAt: 1 }, sparse: true },
  { collection, key: { fingerprint: 1 }, unique: true, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
  { collection: paces, key: { next: 1 }, expireAfterSeconds: 3_600 },
];

/** Up to this many deliveries, the count leaves out delivered events. Above, the count is an upper bound. */
const mostLookedUp = 20_000;
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
  const pace: Collection<Pace> = db.collection(paces);
  const records = createRecordStore<BulkJob>(db, collection, 'bulk job');
  const byEvent = {
    $group: {
      _id: '$eventId',
      keyId: { $first: '$keyId' },
      partnerId: { $first: '$partnerId' },
      mode: { $first: '$mode' },
    },
  };
  /** Leaves out events that are delivered or about to be delivered. */
  const withoutSettled = [
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

  return {
    insert: records.insert,
    find: records.find,
    list: records.list,
    change: records.change,

    /** The running job of a call, if any. */
    async running(fingerprint: string): Promise<BulkJob | undefined> {
      return (await jobs.findOne({ fingerprint })) ?? undefined;
    },

    /** A job whose time span overlaps, with at least one key in common; undefined if there is none. */
    async overlapping(
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

    /** Counts the events or deliveries of a filter for each API key, in the order of the keys. */
    async count(action: BulkAction, filter: BulkFilter): Promise<{ keys: KeyCount[]; exact: boolean }> {
      const query = bulkQuery(action, filter);
      const from = counting.collection(action === 'replay' ? 'events' : 'deliveries');
      const events = action === 'resend';
      const lookup = events && statusOf(action, filter) !== 'delivered';
      const exact =
        !lookup || (await from.countDocuments(query, { limit: mostLookedUp + 1 })) <= mostLookedUp;
      const stages = [...(events ? [byEvent] : []), ...(lookup && exact ? withoutSettled : [])];
      const keys = await countByKey(from, [{ $match: query }, ...stages]);
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
      const take = () => pace.findOneAndUpdate({ _id: keyId }, change, options);
      const before = await take().catch((error: unknown) => {
        // Another process has made the document at the same time.
        if (isDuplicateKey(error)) return take();
        throw error;
      });
      return before && before.next > now ? before.next : now;
    },
  };
}
