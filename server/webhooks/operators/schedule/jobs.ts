import type { NewTime } from '../../../../contracts/admin/deliveries.ts';
import type { ChangedJob, JobDetail, JobView, ListJobs } from '../../../../contracts/admin/jobs.ts';
import type { Total } from '../../../../contracts/admin/references.ts';
import type { Actor } from '../../../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../../../platform/database/audit/dry-run.ts';
import { givenFields } from '../../../platform/database/reads/look-through.ts';
import { ApiError, requireFound } from '../../../platform/errors.ts';
import type { Job } from '../../../platform/jobs/stored-job.ts';
import type { SendingContext } from '../../context.ts';
import { attemptsJob } from '../../delivery/due-job.ts';
import type { NewDue } from '../delivery-query-store.ts';
import { faultOf, jobStateOf, viewJob, viewWaiting } from '../views.ts';
import { requireDueTime, requireKept } from './reschedule.ts';

/** The most deliveries that one read returns, and the most ids in a response (`ChangedJob`, `JobDetail`). */
const deliveriesPerPage = 500;

/**
 * Shows and changes the scheduler's jobs, together with their deliveries. One job starts all attempts that are due within one
 * second. A delivery belongs to that job by its due time only. The methods throw ApiError.
 */
export function createJobs({ scheduler, deliveryQueries, due, clock }: SendingContext) {
  const now = () => new Date(clock.now());

  const requireJob = async (id: string): Promise<Job> =>
    requireFound(await scheduler.show(id), `No job ${id}; a job that has run or was cancelled is deleted`);

  const viewWith = (job: Job, deliveryCount: number): JobView =>
    viewJob(job, { wakes: deliveryCount, now: Date.now() });

  async function view(job: Job): Promise<JobView> {
    const second = dueSecondOf(job);
    return viewWith(job, second ? await deliveryQueries.countDue(second) : 0);
  }

  /**
   * Schedules a job for deliveries that got a due time in this second while its job was moved or cancelled. The deliveries are
   * changed before the job, so later ones would have no job, and only the next sweep would find them.
   */
  async function scheduleLateDeliveries(second: Date): Promise<void> {
    const [late] = await deliveryQueries.dueWith(second, { limit: 1 });
    if (late) await due.retryAt(second);
  }

  /** Makes the error for a job that cannot be changed. @param participle what it cannot be, for instance `cancelled` */
  const cannotChange = (job: Job, participle: string): ApiError => {
    const state = jobStateOf(job, Date.now());
    const description = `Job ${job.id} is ${state}, and no attempt waits for it: it cannot be ${participle} now`;
    return new ApiError('conflict', { description });
  };

  /** Refuses a job that a process runs already, if no attempt waits for it. @throws ApiError `conflict` */
  function requireChangeable(job: Job, waiting: number, participle: string): void {
    if (waiting === 0 && jobStateOf(job, Date.now()) === 'locked') throw cannotChange(job, participle);
  }

  /** Changes the time of a job, and of the deliveries that wait for it. */
  async function move(
    job: Job,
    to: NewDue,
    { participle, actor }: { participle: string; actor: Actor },
  ): Promise<ChangedJob> {
    const second = dueSecondOf(job);
    if (!second) throw cannotChange(job, participle);
    requireChangeable(job, await deliveryQueries.countDue(second), participle);
    endDryRun(actor);
    // Read before the move, because afterwards the deliveries have another due time. The response has at most one page of ids.
    const shown = await deliveryQueries.dueWith(second, { limit: deliveriesPerPage });
    const movedDeliveries = await deliveryQueries.moveDue(second, to);
    const isJobMoved = await due.moveJob(job.id, to.at);
    if (!isJobMoved && movedDeliveries === 0) throw cannotChange(job, participle);
    // A job that a process runs already cannot be moved, so the moved deliveries need another job.
    if (!isJobMoved) await due.retryAt(to.at);
    await scheduleLateDeliveries(second);
    // A job that has run meanwhile may be deleted.
    const moved = (await scheduler.show(job.id)) ?? { ...job, nextRunAt: to.at };
    return { ...viewWith(moved, movedDeliveries), deliveryIds: shown.map(({ _id }) => _id) };
  }

  return {
    async list({ name, limit, after }: ListJobs): Promise<JobView[]> {
      const jobs = await scheduler.list({ limit, ...givenFields({ name, after }) });
      return Promise.all(jobs.map(view));
    },

    count: ({ name }: Pick<ListJobs, 'name'>): Promise<Total> => scheduler.count(name),

    async show(id: string): Promise<JobDetail> {
      const job = await requireJob(id);
      const second = dueSecondOf(job);
      const [viewed, waiting] = await Promise.all([
        view(job),
        second ? deliveryQueries.dueWith(second, { limit: deliveriesPerPage }) : [],
      ]);
      const attempts = waiting.map(viewWaiting);
      return { ...viewed, deliveryIds: attempts.map(({ deliveryId }) => deliveryId), attempts };
    },

    /** Runs a job now: its attempts become due. */
    run: async (id: string, actor: Actor): Promise<ChangedJob> =>
      move(await requireJob(id), { at: now(), trigger: 'run' }, { participle: 'run', actor }),

    async reschedule(id: string, time: NewTime, actor: Actor): Promise<ChangedJob> {
      const job = await requireJob(id);
      const at = requireDueTime(time, now());
      const second = dueSecondOf(job);
      if (second) requireKept(at, await deliveryQueries.earliestPurgeDate(second));
      return move(job, { at, trigger: 'reschedule' }, { participle: 'moved', actor });
    },

    /** Cancels the deliveries that wait for a job, and removes the job. A job that a process runs already stays. */
    async cancel(id: string, actor: Actor): Promise<ChangedJob> {
      const job = await requireJob(id);
      const second = dueSecondOf(job);
      requireChangeable(job, second ? await deliveryQueries.countDue(second) : 0, 'cancelled');
      endDryRun(actor);
      const { count, ids } = second
        ? await deliveryQueries.cancelDue(second, now(), deliveriesPerPage)
        : { count: 0, ids: [] };
      const isRemoved = await scheduler.cancel(id);
      if (second) await scheduleLateDeliveries(second);
      if (!isRemoved && count === 0) throw cannotChange(job, 'cancelled');
      return { ...viewWith(job, count), deliveryIds: ids };
    },
  };
}

/** The second whose due attempts a job starts; undefined for a job that has run, or that is not for attempts. */
function dueSecondOf(job: Job): Date | undefined {
  const { name, key, nextRunAt, lockedAt } = job;
  const isForAttempts = name === attemptsJob && faultOf(job) === undefined;
  return isForAttempts && (nextRunAt || lockedAt) ? new Date(key) : undefined;
}
