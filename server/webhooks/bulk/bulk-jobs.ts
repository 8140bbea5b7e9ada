import type {
  BulkFilter,
  BulkView,
  ListBulk,
  StartBulk,
  StartedBulk,
} from '../../../contracts/admin/bulk.ts';
import { retentionMs } from '../../../contracts/retention.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange } from '../../platform/database/audit/audited-change.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import { isDuplicateKey } from '../../platform/database/failures.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomId, sha256 } from '../../platform/ids.ts';
import type { RequireOtherUrl } from '../operators/endpoints/required-endpoint.ts';
import type { KeyCount } from '../operators/schedule/key-count-store.ts';
import { requireDueTime } from '../operators/schedule/reschedule.ts';
import { type BulkJob, type ClosedFilter, sum, viewBulkJob } from './bulk-job.ts';
import { type BulkStore, sendsDelivered } from './bulk-store.ts';

interface Settings {
  store: BulkStore;
  clock: Pick<Clock, 'now'>;
  /** Makes this process, or another one, take the first step of a job. */
  announce: (bulkId: string) => Promise<void>;
  requireOtherUrl: RequireOtherUrl;
}

/** A job has a limit of keys, because its document contains a part for each key. */
const mostKeysPerJob = 500;
/** How long a job is kept after its start, in milliseconds. */
export const bulkJobRetentionMs = retentionMs.bulkJob;

type NewJob = Parameters<BulkStore['insert']>[0] & { fingerprint: string };

const totalOf = (keys: readonly KeyCount[]): number => sum(keys.map(({ total }) => total));

/** Sums what a job processes: in all, and for live keys. */
const sumUp = (keys: readonly KeyCount[]) => ({
  total: totalOf(keys),
  live: totalOf(keys.filter(({ mode }) => mode === 'live')),
  keys: keys.length,
});

function refuseTooManyKeys({ length }: readonly KeyCount[]): void {
  if (length <= mostKeysPerJob) return;
  throw new ApiError('refused', {
    description: `The filter finds deliveries of ${length} API keys; a job takes ${mostKeysPerJob}: name a partner or a key`,
  });
}

/** Sets both ends of a filter's period, in the same format. A missing start becomes 1970, and a missing end becomes now. */
function closePeriod({ since, until, ...filter }: BulkFilter, now: number): ClosedFilter {
  const time = (text: string | undefined, fallback: number) =>
    new Date(text === undefined ? fallback : Date.parse(text)).toISOString();
  return { ...filter, since: time(since, 0), until: time(until, now) };
}

/**
 * Identifies a call, so that a repeated one is recognised. The order of the filter's fields makes no difference, and a field that
 * is undefined counts as absent.
 */
const computeFingerprint = ({ action, filter, at, inSeconds, to }: StartBulk): string =>
  sha256(JSON.stringify([action, Object.entries(givenFields(filter)).sort(), at ?? inSeconds ?? to ?? null]));

/** Starts, shows and cancels bulk jobs for operators. The methods throw ApiError. */
export function createBulkJobs({ store, clock, announce, requireOtherUrl }: Settings) {
  const change = createAuditedChange(store, clock);
  const view = (job: BulkJob): BulkView => viewBulkJob(job, clock.now());

  const viewStarted = (job: BulkJob, { repeated }: { repeated: boolean }): StartedBulk => ({
    dryRun: false,
    repeated,
    ...sumUp(job.parts),
    exact: job.exact,
    filter: job.filter,
    job: view(job),
  });

  /**
   * Refuses to send delivered events that another job sends again, or has sent again. For failed deliveries there is no such
   * danger: two jobs that find the same one send it once.
   * @throws ApiError `conflict`
   */
  async function refuseSecondJob(
    job: Pick<BulkJob, 'action' | 'filter' | 'to'>,
    keys: readonly KeyCount[],
  ): Promise<void> {
    if (!sendsDelivered(job)) return;
    const keyIds = keys.map(({ keyId }) => keyId);
    const other = await store.findOverlapping(job, keyIds);
    if (!other) return;
    const span = `${other.filter.since} to ${other.filter.until}`;
    const description = `Bulk job ${other._id} sends the events of ${span} again already; with --again they are sent once more`;
    throw new ApiError('conflict', { description });
  }

  /** Inserts a job with its audit entry, and announces it. If an equal call has just done so in parallel, shows that job. */
  async function insertOnce(job: NewJob, actor: Actor): Promise<StartedBulk> {
    const { _id: id, action, filter, rate, at, to, total: count, exact, parts, createdAt } = job;
    const time = givenFields({ at: at?.toISOString(), to });
    const after = { action, filter, rate, ...time, count, exact, keys: parts.length };
    try {
      const audited = auditEntry(actor, { id, at: createdAt.getTime() }, { after });
      const inserted = await store.insert(job, audited);
      await announce(id);
      return viewStarted(inserted, { repeated: false });
    } catch (error) {
      const other = isDuplicateKey(error) ? await store.findRunning(job.fingerprint) : undefined;
      if (other) return viewStarted(other, { repeated: true });
      throw error;
    }
  }

  return {
    /**
     * Counts the documents that the filter matches, and starts a job for them. A dry run and a filter without matches start
     * no job. A repeated call shows the running job that the first call has started.
     */
    async start(input: StartBulk, actor: Actor): Promise<StartedBulk> {
      const now = new Date(clock.now());
      const { action, rate, dryRun, again } = input;
      const time =
        action === 'reschedule' ? { at: requireDueTime(input, now) } : givenFields({ to: input.to });
      await requireOtherUrl(input.to, input.filter.keyId === undefined ? [] : [input.filter.keyId]);
      const filter = closePeriod(input.filter, now.getTime());
      // Without `until`, the filter ends at the present time. With it in the fingerprint, no repeated call would be recognised.
      const fingerprint = computeFingerprint(input.filter.until === undefined ? input : { ...input, filter });
      if (!dryRun) {
        const running = await store.findRunning(fingerprint);
        if (running) return viewStarted(running, { repeated: true });
      }
      const what = { action, filter, ...time };
      const { keys, exact } = await store.count(what);
      refuseTooManyKeys(keys);
      if (!again) await refuseSecondJob(what, keys);
      const sums = sumUp(keys);
      endDryRun(actor, { changes: sums.total > 0 });
      if (dryRun || sums.total === 0) return { dryRun, repeated: false, ...sums, exact, filter, job: null };
      const { operatorId, operatorName } = actor;
      const parts = keys.map((key) => ({ ...key, done: 0, leftOut: 0, nextAt: now, finished: false }));
      const job: NewJob = {
        ...{ _id: randomId('bulkJob'), ...what, rate, status: 'running' },
        ...{ total: sums.total, exact, parts, nextAt: now, fingerprint, operatorId, operatorName },
        createdAt: now,
        purgeAt: new Date(now.getTime() + bulkJobRetentionMs),
      };
      return insertOnce(job, actor);
    },

    async list({ status, ...page }: ListBulk): Promise<BulkView[]> {
      return (await store.list({ status }, page)).map(view);
    },

    show: async (id: string): Promise<BulkView> => view(await store.get(id)),

    /**
     * Cancels a job; a repeated call changes nothing. Deliveries that the job has made already are still sent.
     * @throws ApiError `conflict` if the job was done before
     */
    async cancel(id: string, actor: Actor): Promise<BulkView> {
      const cancelled = await change(id, actor, (job, now) => {
        if (job.status !== 'running') return undefined;
        const { done, leftOut } = view(job);
        const removed = { nextAt: undefined, lease: undefined, fingerprint: undefined };
        return {
          set: { status: 'cancelled' as const, endedAt: new Date(now), ...removed },
          before: { status: job.status },
          after: { status: 'cancelled', done, leftOut },
        };
      });
      if (cancelled.status === 'done')
        throw new ApiError('conflict', { description: `Bulk job ${id} has ended already` });
      return view(cancelled);
    },
  };
}
