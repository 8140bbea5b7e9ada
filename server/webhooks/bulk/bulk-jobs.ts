import type {
  BulkFilter,
  BulkView,
  ListBulk,
  StartBulk,
  StartedBulk,
} from '../../../contracts/admin/bulk.ts';
import { retentionMs } from '../../../contracts/retention.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange } from '../../platform/database/audit/audited-change.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import { givenFields } from '../../platform/database/reads/look-through.ts';
import { ApiError } from '../../platform/errors.ts';
import { randomId, sha256 } from '../../platform/ids.ts';
import type { OperatorsContext } from '../context.ts';
import { createRequireOtherUrl, requireSomeEndpoint } from '../operators/endpoints/required-endpoint.ts';
import { requireDueTime } from '../operators/schedule/reschedule.ts';
import { type BulkJob, type ClosedFilter, type KeyCount, sum, viewBulkJob } from './bulk-job.ts';
import { sendsDelivered, type Work } from './bulk-store.ts';

/** A job has a limit of keys, because its document contains a part for each key. */
const mostKeysPerJob = 500;
/** How long a job is kept after its start, in milliseconds. */
export const bulkJobRetentionMs = retentionMs.bulkJob;

function sumUp(keys: readonly KeyCount[]) {
  const total = (counts: readonly KeyCount[]) => sum(counts.map((count) => count.total));
  return { total: total(keys), live: total(keys.filter(({ mode }) => mode === 'live')), keys: keys.length };
}

/** Sets both ends of a filter's period, in the same format. A missing start becomes 1970, and a missing end becomes now. */
function closePeriod({ since, until, ...filter }: BulkFilter, now: Date): ClosedFilter {
  const time = (text: string | undefined, fallback: Date) =>
    (text === undefined ? fallback : new Date(text)).toISOString();
  return { ...filter, since: time(since, new Date(0)), until: time(until, now) };
}

/**
 * Identifies a call, so that a repeated one is recognised. An end of the period that moves with the time of the call counts as the
 * distance that the caller gave. The order of the filter's fields makes no difference, and a field that is undefined counts as
 * absent.
 */
function computeFingerprint(
  { action, filter: { until }, at, inSeconds, to, secondsBack }: StartBulk,
  closed: ClosedFilter,
): string {
  const filter = { ...closed, ...(until === undefined && { until }), ...givenFields({ ...secondsBack }) };
  return sha256(
    JSON.stringify([action, Object.entries(givenFields(filter)).sort(), at ?? inSeconds ?? to ?? null]),
  );
}

/** Starts, shows and cancels bulk jobs for operators. The methods throw ApiError. */
export function createBulkJobs(context: OperatorsContext) {
  const { bulk: store, clock, announce, whyOff } = context;
  const requireOtherUrl = createRequireOtherUrl(context);
  const change = createAuditedChange(store, clock);
  const view = (job: BulkJob): BulkView => viewBulkJob(job, clock.now());

  const viewStarted = ({ parts, exact, filter, ...job }: BulkJob, repeated: boolean): StartedBulk => ({
    ...{ dryRun: false, repeated, ...sumUp(parts), exact, filter },
    job: view({ ...job, parts, exact, filter }),
  });

  /**
   * Refuses to send delivered events that another job sends again, or has sent again. For failed deliveries there is no such
   * danger: two jobs that find the same one send it once.
   * @throws ApiError `conflict`
   */
  async function refuseSecondJob(work: Work, keys: readonly KeyCount[]): Promise<void> {
    if (!sendsDelivered(work)) return;
    const keyIds = keys.map(({ keyId }) => keyId);
    const other = await store.findOverlapping(work, keyIds);
    if (!other) return;
    const span = `${other.filter.since} to ${other.filter.until}`;
    const description = `Bulk job ${other._id} sends the events of ${span} again already; with --again they are sent once more`;
    throw new ApiError('conflict', { description });
  }

  /**
   * Counts what the filter matches, for each key.
   * @throws ApiError `refused` for too many keys; `conflict` for a second job, or if nothing is sent to any of the keys
   */
  async function countFor(work: Work, { again }: StartBulk) {
    const counted = await store.count(work);
    const { keys } = counted;
    if (keys.length > mostKeysPerJob)
      throw new ApiError('refused', {
        description: `The filter finds deliveries of ${keys.length} API keys; a job takes ${mostKeysPerJob}: name a partner or a key`,
      });
    const isSentToEndpoints = work.action === 'resend' || work.action === 'replay';
    // A job to another URL has one key, and `requireOtherUrl` has read its endpoint.
    if (isSentToEndpoints && work.to === undefined)
      await requireSomeEndpoint(
        keys.map(({ keyId }) => keyId),
        whyOff,
      );
    if (!again) await refuseSecondJob(work, keys);
    return counted;
  }

  return {
    /**
     * Counts the documents that the filter matches, and starts a job for them. A dry run and a filter without matches start
     * no job. A repeated call shows the running job that the first call has started.
     */
    async start(input: StartBulk, actor: Actor): Promise<StartedBulk> {
      const now = new Date(clock.now());
      const { action, rate, to, dryRun } = input;
      const at = action === 'reschedule' ? requireDueTime(input, now) : undefined;
      if (to !== undefined && input.filter.keyId !== undefined)
        await requireOtherUrl(to, [input.filter.keyId]);
      const filter = closePeriod(input.filter, now);
      const fingerprint = computeFingerprint(input, filter);
      const running = dryRun ? null : await store.findRunning(fingerprint);
      if (running) return viewStarted(running, true);
      const work: Work = { action, filter, ...givenFields({ to }) };
      const { keys, exact } = await countFor(work, input);
      const sums = sumUp(keys);
      const { total } = sums;
      endDryRun(actor, { changes: total > 0 });
      if (dryRun || total === 0) return { dryRun, repeated: false, ...sums, exact, filter, job: null };
      const { operatorId, operatorName } = actor;
      const id = randomId('bulkJob');
      const fields = { ...work, rate, ...(at && { at }) };
      const parts = keys.map((key) => ({ ...key, done: 0, leftOut: 0, nextAt: now, finished: false }));
      const after = {
        ...fields,
        ...(at && { at: at.toISOString() }),
        count: total,
        exact,
        keys: keys.length,
      };
      const { job, repeated } = await store.insertOnce(
        {
          ...{ _id: id, ...fields, status: 'running', total, exact, parts, nextAt: now, fingerprint },
          ...{ operatorId, operatorName, createdAt: now },
          purgeAt: new Date(now.getTime() + bulkJobRetentionMs),
        },
        auditEntry(actor, { id, at: now.getTime() }, { after }),
      );
      if (!repeated) await announce(id);
      return viewStarted(job, repeated);
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
        const removed = { nextAt: undefined, fingerprint: undefined };
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
