import type { Collection, Db, Document } from 'mongodb';
import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import { anyOf, type Read } from '../../platform/database/reads/joint-reads.ts';
import { createRecordStore, type NewRecord, recordIndexes } from '../../platform/database/records.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { collection as deliveryCollection } from '../delivery/delivery-store.ts';
import { collection as eventCollection } from '../delivery/event-store.ts';
import { queryOf } from '../operators/delivery-query-store.ts';
import { type BulkJob, type KeyCount, nextPart, type Part } from './bulk-job.ts';

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
 * If a filter finds more documents than this, a look-up of the events that are not sent again would take too long. They are then
 * counted too.
 */
const mostLookedUp = 20_000;
const underWay = ['pending', 'in_flight'];

/** Only running jobs have `nextAt`. The condition on it lets a query use its sparse index. */
const running = { nextAt: { $gt: new Date(0) } };
/** Finds whether any bulk job runs. */
export const runningRead: Read = anyOf(collection, running);

/** What a job does with what it finds. */
export type Work = Pick<BulkJob, 'action' | 'filter' | 'to'>;
type RunningJob = BulkJob & { nextAt: Date };

/** Whether a job sends events again even if they were delivered. */
export const sendsDelivered = ({ action, filter }: Work): boolean =>
  action === 'replay' || filter.status === 'delivered';

/** The statuses of a delivery to the URL of the job because of which its event is not sent again. */
export const blockingStatuses = (work: Work): readonly string[] =>
  sendsDelivered(work) ? underWay : [...underWay, 'delivered'];

/**
 * The status of the deliveries that a job processes. Only the filter of a resend may contain a status, and `failed` is the
 * default. All other actions are for pending deliveries.
 */
export const statusToProcess = ({ action, filter: { status = 'failed' } }: Work): string =>
  action === 'resend' ? status : 'pending';

/** The query for the documents of a job: events for a replay, deliveries for other actions. */
export function bulkQuery(work: Work): Document {
  const { status: _status, ...conditions } = work.filter;
  const query = queryOf(conditions);
  return work.action === 'replay' ? query : { ...query, status: statusToProcess(work) };
}

/** Fields of a `$group` stage: the owner of the first document. */
const firstOwner = { partnerId: { $first: '$partnerId' }, mode: { $first: '$mode' } };
const groupByEvent = { $group: { _id: '$eventId', keyId: { $first: '$keyId' }, ...firstOwner } };
/** Stages that leave out the events that the steps of the job will not send again. */
const leaveOutBlocked = (work: Work) => [
  {
    $lookup: {
      from: deliveryCollection,
      localField: '_id',
      foreignField: 'eventId',
      pipeline: [
        { $match: { status: { $in: blockingStatuses(work) }, to: work.to ?? null } },
        { $limit: 1 },
        { $project: { _id: 1 } },
      ],
      as: 'blocking',
    },
  },
  { $match: { blocking: [] } },
];

export type BulkStore = ReturnType<typeof createBulkStore>;

/** The store of bulk jobs. @param counting the same database through connections with a longer timeout */
export function createBulkStore(db: Db, counting: Db = db) {
  const jobs: Collection<BulkJob> = db.collection(collection);
  /** The time from which a key's next delivery of bulk work may be sent. */
  const paces: Collection<{ _id: string; next: Date }> = db.collection(paceCollection);
  const records = createRecordStore<BulkJob>(db, collection, 'bulk job');

  const findRunning = (fingerprint: string): Promise<BulkJob | null> => jobs.findOne({ fingerprint });

  return {
    ...records,

    findRunning,

    /** Inserts a job. If an equal call has just done so in parallel, returns that job. */
    async insertOnce(job: NewRecord<BulkJob> & { fingerprint: string }, entry: AuditEntry) {
      try {
        return { job: await records.insert(job, entry), repeated: false };
      } catch (error) {
        const other = isDuplicateKey(error) ? await findRunning(job.fingerprint) : null;
        if (other) return { job: other, repeated: true };
        throw error;
      }
    },

    /**
     * Finds a job with the same action and URL, an overlapping time span and at least one of these keys. A job that ended without
     * sending anything to the key does not count.
     */
    findOverlapping({ action, filter: { since, until, status }, to }: Work, keyIds: readonly string[]) {
      const hasSentOrWillSend = { $or: [{ done: { $gt: 0 } }, { finished: false }] };
      const overlaps: Document = {
        action,
        to: to ?? null,
        ...(status ? { 'filter.status': status } : {}),
        'filter.since': { $lt: until },
        'filter.until': { $gt: since },
        parts: { $elemMatch: { keyId: { $in: keyIds }, ...hasSentOrWillSend } },
      };
      // No index serves these conditions. The newest jobs are searched first, and there are few, because old ones are deleted.
      const newestFirst = { createdAt: -1, _id: -1 } as const;
      return jobs.findOne(overlaps, { hint: newestFirst, sort: newestFirst });
    },

    /**
     * Counts what a job would process for each API key, sorted by key: operators see the keys in this order. A replay and a
     * resend count events, the other actions count deliveries. The counts are not `exact`, but upper bounds, if they include
     * events that are not sent again.
     */
    async count(work: Work): Promise<{ keys: KeyCount[]; exact: boolean }> {
      const query = bulkQuery(work);
      const documents = counting.collection(work.action === 'replay' ? eventCollection : deliveryCollection);
      const isResend = work.action === 'resend';
      const sendsAgain = isResend || work.action === 'replay';
      const findsFew = async () =>
        (await documents.countDocuments(query, { limit: mostLookedUp + 1 })) <= mostLookedUp;
      const exact = !sendsAgain || (await findsFew());
      const stages = [
        { $match: query },
        ...(isResend ? [groupByEvent] : []),
        ...(sendsAgain && exact ? leaveOutBlocked(work) : []),
        { $group: { _id: '$keyId', ...firstOwner, total: { $sum: 1 } } },
        { $sort: { _id: 1 } },
        { $project: { _id: 0, keyId: '$_id', partnerId: 1, mode: 1, total: 1 } },
      ];
      return { keys: await documents.aggregate<KeyCount>(stages).toArray(), exact };
    },

    async next(): Promise<RunningJob | undefined> {
      const job = await jobs.findOne(running, { sort: { nextAt: 1 } });
      return job ? (job as RunningJob) : undefined;
    },

    /**
     * Leases the next step of a job. If the process ends without saving the step, the job is due again at the end of the lease.
     * @returns the leased job; undefined if another process has leased the step, or the job was cancelled
     */
    async lease(job: RunningJob, until: Date): Promise<RunningJob | undefined> {
      const { _id, nextAt } = job;
      const { modifiedCount } = await jobs.updateOne({ _id, nextAt }, { $set: { nextAt: until } });
      return modifiedCount === 1 ? { ...job, nextAt: until } : undefined;
    },

    /** Writes the result of a step, unless another process has taken the step over, or the job was cancelled. */
    async save({ _id, nextAt, parts }: RunningJob, part: Part, now: Date): Promise<void> {
      const position = parts.findIndex(({ keyId }) => keyId === part.keyId);
      const next = nextPart(parts.with(position, part));
      const progress = { [`parts.${position}`]: part };
      // A job that is done has no fingerprint, so that the same call can start another job.
      const change = next
        ? { $set: { ...progress, nextAt: next.nextAt } }
        : {
            $set: { ...progress, status: 'done' as const, endedAt: now },
            $unset: { nextAt: '' as const, fingerprint: '' as const },
          };
      await jobs.updateOne({ _id, nextAt }, change);
    },

    /**
     * Reserves the time for deliveries of a key, after the times that all bulk jobs of the key have reserved before.
     * @param ms how many milliseconds to reserve
     * @returns the time of the first delivery, not before `now`
     */
    async reserve(keyId: string, now: Date, ms: number): Promise<Date> {
      // A new document has no `next`, and `$max` ignores a missing field.
      const change = [{ $set: { next: { $add: [{ $max: ['$next', now] }, Math.ceil(ms)] } } }];
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
