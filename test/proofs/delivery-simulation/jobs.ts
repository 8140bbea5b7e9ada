import type { Scheduler } from '../../../server/platform/jobs/scheduler.ts';
import type { Network } from '../simulation/network.ts';
import type { Actor } from '../simulation/schedule.ts';

interface Job {
  name: string;
  key: string;
  when: number;
  lockedAt?: number;
}

const pollEveryMs = 1_000;
const lockLifetimeMs = 60_000;

/** The scheduler of a simulated process, on jobs that all processes share. As Agenda, it polls once a second. */
export function createJobs(
  actor: Actor,
  { jobs, network, now }: { jobs: Set<Job>; network: Network; now: () => number },
): Scheduler {
  const handlers = new Map<string, (key: string) => Promise<void>>();

  /** Locks the jobs that become due until the next poll. */
  const lock = () =>
    network.call(actor, () => 'lock jobs', {
      write: true,
      run: () => {
        const isFree = ({ when, lockedAt }: Job) =>
          lockedAt === undefined ? when <= now() + pollEveryMs : lockedAt < now() - lockLifetimeMs;
        const found = [...jobs].filter(isFree);
        for (const job of found) job.lockedAt = now();
        return found;
      },
    });

  async function run(job: Job): Promise<void> {
    await handlers.get(job.name)?.(job.key);
    await network.call(actor, () => 'delete job', { run: () => jobs.delete(job), write: true });
  }

  function poll(): void {
    lock()
      .then((found) => {
        for (const job of found)
          setTimeout(() => void run(job).catch(() => undefined), Math.max(0, job.when - now()));
      })
      .catch(() => undefined);
    setTimeout(poll, pollEveryMs);
  }

  const scheduler: Partial<Scheduler> = {
    define: (name, handler) => void handlers.set(name, handler),
    at: (name, when, key, { unless } = {}) =>
      network.call(actor, () => `job ${key}`, {
        write: true,
        run: () => {
          const counts = ({ lockedAt }: Job) => lockedAt === undefined || unless === 'unfinished';
          const exists = [...jobs].some((job) => job.name === name && job.key === key && counts(job));
          if (!exists) jobs.add({ name, key, when: when.getTime() });
        },
      }),
    sweep: async () => undefined,
    start: async () => poll(),
    stop: async () => undefined,
  };
  return scheduler as Scheduler;
}

export type Jobs = Set<Job>;
