import type { NewTime } from '../../../contracts/admin/deliveries.ts';
import type { ChangedJob, JobDetail, JobView, ListJobs } from '../../../contracts/admin/jobs.ts';
import type { Total } from '../../../contracts/admin/references.ts';
import type { Clock } from '../../platform/clock.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Scheduler } from '../../platform/jobs/scheduler.ts';
import type { Job } from '../../platform/jobs/stored-job.ts';
import { attemptsJob, type DueJobs } from '../delivery/due-job.ts';
import type { DeliveryQueryStore, NewDue } from './delivery-query-store.ts';
import { requireDueTime, requireKept } from './reschedule.ts';
import { faultOf, viewJob, viewWaiting } from './views.ts';

interface Settings {
  scheduler: Scheduler;
  history: DeliveryQueryStore;
  dueJobs: Pick<DueJobs, 'at' | 'move'>;
  clock: Pick<Clock, 'now'>;
}

const deliveriesPerPage = 500;

export type Jobs = ReturnType<typeof createJobs>;

/** Shows and changes the scheduler's jobs, together with their deliveries. The methods throw ApiError. */
export function createJobs({ scheduler, history, dueJobs, clock }: Settings) {
  const now = () => new Date(clock.now());

  async function requireJob(id: string): Promise<Job> {
    const job = await scheduler.show(id);
    if (!job) throw new ApiError('not_found', { description: `No job ${id}; a job that has run is deleted` });
    return job;
  }

  async function view(jobs: readonly Job[]): Promise<JobView[]> {
    const seconds = jobs.map(dueSecondOf);
    const counts = await history.countDue(seconds.filter((second) => second !== undefined));
    return jobs.map((job, index) =>
      viewJob(job, { wakes: seconds[index] ? (counts.shift() ?? 0) : 0, now: Date.now() }),
    );
  }

  /** Schedules a job for deliveries that were added to this second during a change, because the changed job may miss them. */
  async function scheduleLateDeliveries(second: Date): Promise<void> {
    const [late] = await history.dueWith(second, 1);
    if (late) await dueJobs.at(second);
  }

  function changed(job: Job, wakes: number, deliveryIds: string[]): ChangedJob {
    return { ...viewJob(job, { wakes, now: Date.now() }), deliveryIds };
  }

  const cannotChange = ({ id, ...job }: Job, participle: string): ApiError => {
    const { state } = viewJob({ id, ...job }, { wakes: 0, now: Date.now() });
    const description = `Job ${id} is ${state}, and no attempt waits for it: it cannot be ${participle} now`;
    return new ApiError('conflict', { description });
  };

  /** Changes the time of a job and its attempts. If a process holds the job, the attempts get a new job. */
  async function move(job: Job, to: NewDue, participle: string): Promise<ChangedJob> {
    const second = dueSecondOf(job);
    if (!second) throw cannotChange(job, participle);
    const shown = await history.dueWith(second, deliveriesPerPage);
    const count = await history.moveDue(second, to);
    const isMoved = await dueJobs.move(job.id, to.at);
    if (!isMoved && count === 0) throw cannotChange(job, participle);
    if (!isMoved) await dueJobs.at(to.at);
    await scheduleLateDeliveries(second);
    const ids = shown.map(({ _id }) => _id);
    return changed((await scheduler.show(job.id)) ?? { ...job, nextRunAt: to.at }, count, ids);
  }

  /** Cancels the deliveries that are due in this second, one page after another. @returns their ids */
  async function cancelAllDue(second: Date): Promise<string[]> {
    const cancelled: string[] = [];
    for (;;) {
      const found = await history.dueWith(second, deliveriesPerPage);
      const ids = found.map(({ _id }) => _id);
      cancelled.push(...(await history.cancelDue(second, ids, now())));
      if (found.length < deliveriesPerPage) return cancelled;
    }
  }

  return {
    async list({ name, limit, after }: ListJobs): Promise<JobView[]> {
      const page = {
        limit,
        ...(name === undefined ? {} : { name }),
        ...(after === undefined ? {} : { after }),
      };
      return view(await scheduler.list(page));
    },

    count: ({ name }: Pick<ListJobs, 'name'>): Promise<Total> => scheduler.count(name),

    async show(id: string): Promise<JobDetail> {
      const job = await requireJob(id);
      const second = dueSecondOf(job);
      const [[shown], waiting] = await Promise.all([
        view([job]),
        second ? history.dueWith(second, deliveriesPerPage) : [],
      ]);
      const attempts = waiting.map(viewWaiting);
      const deliveryIds = attempts.map(({ deliveryId }) => deliveryId);
      return { ...(shown ?? viewJob(job, { wakes: 0, now: Date.now() })), deliveryIds, attempts };
    },

    /** Runs a job now: its attempts become due. */
    run: async (id: string): Promise<ChangedJob> =>
      move(await requireJob(id), { at: now(), trigger: 'run' }, 'run'),

    async reschedule(id: string, time: NewTime): Promise<ChangedJob> {
      const job = await requireJob(id);
      const at = requireDueTime(time, now());
      const second = dueSecondOf(job);
      requireKept(at, second && (await history.earliestPurgeDate(second)));
      return move(job, { at, trigger: 'reschedule' }, 'moved');
    },

    /** Cancels the attempts that wait for a job, and removes it. */
    async cancel(id: string): Promise<ChangedJob> {
      const job = await requireJob(id);
      const second = dueSecondOf(job);
      const cancelled = second ? await cancelAllDue(second) : [];
      const isRemoved = await scheduler.cancel(id);
      if (second) await scheduleLateDeliveries(second);
      if (!isRemoved && cancelled.length === 0) throw cannotChange(job, 'cancelled');
      return changed(job, cancelled.length, cancelled.slice(0, deliveriesPerPage));
    },
  };
}

/** The second whose due attempts a job starts; undefined for a job that has run, or that is not for attempts. */
function dueSecondOf(job: Job): Date | undefined {
  const { name, key, nextRunAt, lockedAt } = job;
  const isForAttempts = name === attemptsJob && faultOf(job) === undefined;
  return isForAttempts && (nextRunAt || lockedAt) ? new Date(key) : undefined;
}
