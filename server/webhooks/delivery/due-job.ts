import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Scheduler } from '../../platform/jobs/scheduler.ts';

/** The job of this feature: dispatches deliveries that become due within one second. */
export const attemptsJob = 'webhook.attempts';

const second = 1000;
const longestSleepMs = 1000;
/** Milliseconds to wait for other due deliveries before the next query. */
const batchDelayMs = 50;
/** Twice the largest difference between two trusted clocks, in milliseconds. */
const largestClockDifferenceMs = 8000;

/** The beginning of the second that contains a time. */
export const dueBucket = (at: Date): Date => new Date(Math.floor(at.getTime() / second) * second);

export type DueJobs = ReturnType<typeof createDueJobs>;

interface Settings {
  scheduler: Scheduler;
  clock: Pick<Clock, 'now'>;
  /** The next due time within a span. */
  nextDue: (after: Date, before: Date) => Promise<Date | undefined>;
}

/** Schedules one job for each second with due deliveries, however many there are. */
export function createDueJobs({ scheduler, clock, nextDue }: Settings) {
  /** Waits until `due` by our clock. A job that an operator runs early does not wait. */
  async function wait(due: number, ended: AbortSignal): Promise<void> {
    while (!ended.aborted) {
      const early = due - clock.now();
      if (early <= 0 || early >= largestClockDifferenceMs) return;
      await sleep(Math.min(early, longestSleepMs), undefined, { ref: false });
    }
  }

  /** The key of a job, and its time by the machine's clock, which the scheduler uses. */
  function jobFor(when: Date): { key: string; machineTime: Date } {
    const due = dueBucket(when);
    return { key: due.toISOString(), machineTime: new Date(due.getTime() - clock.now() + Date.now()) };
  }

  return {
    at(when: Date): Promise<void> {
      const { key, machineTime } = jobFor(when);
      return scheduler.at(attemptsJob, machineTime, key);
    },

    /** Changes the time of a waiting job. False if no such job waits. */
    move(jobId: string, when: Date): Promise<boolean> {
      const { key, machineTime } = jobFor(when);
      return scheduler.move(jobId, machineTime, key);
    },

    /** Calls `attempt` in each due second, as soon as a delivery of that second is due. */
    define(attempt: () => Promise<void>, ended: AbortSignal): void {
      scheduler.define(attemptsJob, async (key) => {
        const begins = Date.parse(key);
        const ends = new Date(begins + second);
        let due = begins;
        for (;;) {
          // Another machine may have scheduled the job by a different clock.
          await wait(due, ended);
          // Deliveries that become due during the attempt belong to the next one.
          const polledAt = clock.now();
          await attempt();
          if (ended.aborted || polledAt >= ends.getTime()) return;
          const next = await nextDue(new Date(polledAt), ends);
          if (!next) return;
          // Deliveries that become due together are dispatched together.
          due = next.getTime() + batchDelayMs;
        }
      });
    },
  };
}
