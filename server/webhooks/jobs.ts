import type { JobDetail, JobView, ListJobs } from '../../contracts/admin/jobs.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import type { Job, Scheduler } from '../platform/scheduler.ts';
import type { HistoryStore } from './history-store.ts';
import { viewJob } from './views.ts';
import { attemptsJob } from './wake.ts';

interface Settings {
  scheduler: Scheduler;
  history: HistoryStore;
  clock: Pick<Clock, 'now'>;
}

const mostShown = 500;

export type Jobs = ReturnType<typeof createJobs>;

/** The scheduler's jobs, and what they mean for deliveries. All methods throw ApiError. */
export function createJobs({ scheduler, history, clock }: Settings) {
  const secondOf = ({ key }: Job): Date => new Date(key);
  const isAttempts = ({ name }: Job): boolean => name === attemptsJob;

  async function existing(id: string): Promise<Job> {
    const job = await scheduler.show(id);
    if (!job) throw new ApiError('not_found', { description: `No job ${id}; it may have run meanwhile` });
    return job;
  }

  async function view(jobs: readonly Job[]): Promise<JobView[]> {
    const waking = jobs.filter(isAttempts);
    const counts = await history.countDue(waking.map(secondOf));
    const wakes = new Map(waking.map(({ id }, at) => [id, counts[at] ?? 0]));
    return jobs.map((job) => viewJob(job, { wakes: wakes.get(job.id) ?? 0, now: Date.now() }));
  }

  async function viewOne(job: Job): Promise<JobView> {
    const [wakes = 0] = isAttempts(job) ? await history.countDue([secondOf(job)]) : [];
    return viewJob(job, { wakes, now: Date.now() });
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

    async show(id: string): Promise<JobDetail> {
      const job = await existing(id);
      const deliveryIds = isAttempts(job) ? await history.dueWith(secondOf(job), mostShown) : [];
      return { ...(await viewOne(job)), deliveryIds };
    },

    /** Runs a job ahead of time, and with it the attempts that it is for. */
    async run(id: string): Promise<JobView> {
      const job = await existing(id);
      const before = await viewOne(job);
      if (!job.lockedAt && isAttempts(job)) await history.bringForward(secondOf(job), new Date(clock.now()));
      if (await scheduler.run(id)) return before;
      throw new ApiError('conflict', { description: `Job ${id} is ${before.state}: it cannot be run now` });
    },

    async cancel(id: string): Promise<JobView> {
      const job = await existing(id);
      if (isAttempts(job)) {
        const description = `A ${attemptsJob} job only wakes deliveries, and would be made again. Cancel those: svcadmin deliveries cancel ID (svcadmin jobs show ${id} names them)`;
        throw new ApiError('refused', { description });
      }
      const cancelled = await viewOne(job);
      if (await scheduler.cancel(id)) return cancelled;
      throw new ApiError('conflict', {
        description: `Job ${id} is ${cancelled.state}: it cannot be cancelled`,
      });
    },
  };
}
