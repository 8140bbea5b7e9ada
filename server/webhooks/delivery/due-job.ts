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
  /** Finds when the next delivery becomes due, later than `after` and earlier than `before`. */
  nextDue: (after: Date, before: Date) => Promise<Date | undefined>;
}

/** Schedules one job for each second with due deliveries, however many there are. */
export function createDueJobs({ scheduler, clock, nextDue }: Settings) {
  /** Waits until `due` by our clock. A job that an operator runs early does not wait. */
  async function waitUntil(due: number, stopSignal: AbortSignal): Promise<void> {
    while (!stopSignal.aborted) {
      const remainingMs = due - clock.now();
      if (remainingMs <= 0 || remainingMs >= largestClockDifferenceMs) return;
      await sleep(Math.min(remainingMs, longestSleepMs), undefined, { ref: false });
    }
  }

  /** The key of a job, and its time by the machine's clock, which the scheduler uses. */
  function jobFor(when: Date): { key: string; machineTime: Date } {
    const due = dueBucket(when);
    return { key: due.toISOString(), machineTime: new Date(due.getTime() - clock.now() + Date.now()) };
  }

  return {
    /** Schedules the job of the second that contains this time. */
    at(when: Date): Promise<void> {
      const { key, machineTime } = jobFor(when);
      return scheduler.at(attemptsJob, machineTime, key);
    },

    /** Changes the time of a waiting job. @returns false if no such job waits */
    move(jobId: string, when: Date): Promise<boolean> {
      const { key, machineTime } = jobFor(when);
      return scheduler.move(jobId, machineTime, key);
    },

    /** Calls `attemptAllDue` in each due second, as soon as a delivery of that second is due. */
    define(attemptAllDue: () => Promise<void>, stopSignal: AbortSignal): void {
      async function runSecond(secondBegins: number): Promise<void> {
        const secondEnds = new Date(secondBegins + second);
        let due = secondBegins;
        for (;;) {
          // Another machine may have scheduled the job by a different clock.
          await waitUntil(due, stopSignal);
          // Deliveries that become due during this poll are found by the next one.
          const polledAt = clock.now();
          await attemptAllDue();
          if (stopSignal.aborted || polledAt >= secondEnds.getTime()) return;
          const next = await nextDue(new Date(polledAt), secondEnds);
          if (!next) return;
          // Deliveries that become due together are dispatched together.
          due = next.getTime() + batchDelayMs;
        }
      }
      scheduler.define(attemptsJob, (key) => runSecond(Date.parse(key)));
    },
  };
}
