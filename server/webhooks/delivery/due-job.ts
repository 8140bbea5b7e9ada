import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Scheduler } from '../../platform/jobs/scheduler.ts';

/** The job of this feature: dispatches deliveries that become due within one second. */
export const attemptsJob = 'webhook.attempts';

const secondMs = 1000;
/** After each sleep of this length, a stop of the process is noticed. */
const longestSleepMs = 1000;
/** Milliseconds from the next due time to the poll for it, so that one poll finds deliveries that become due together. */
const batchDelayMs = 50;
/** The most by which different clocks make a job start early: twice what two trusted clocks may differ, in milliseconds. */
const mostEarlyMs = 8000;

/** The beginning of the second that contains a time. */
export const dueBucket = (at: Date): Date => new Date(Math.floor(at.getTime() / secondMs) * secondMs);

interface Settings {
  scheduler: Scheduler;
  clock: Pick<Clock, 'now'>;
  /** Finds when the next delivery becomes due, later than `after` and earlier than `before`. */
  nextDue: (after: Date, before: Date) => Promise<Date | undefined>;
}

/** Schedules one job for each second with due deliveries, however many there are. */
export function createDueJobs({ scheduler, clock, nextDue }: Settings) {
  /**
   * Waits until `time` by the database's clock. A job may start early, because the clocks of two machines differ. A job that
   * starts more than `mostEarlyMs` early was started by an operator, so it does not wait.
   */
  async function waitUntil(time: number, stopSignal: AbortSignal): Promise<void> {
    while (!stopSignal.aborted) {
      const remainingMs = time - clock.now();
      if (remainingMs <= 0 || remainingMs >= mostEarlyMs) return;
      await sleep(Math.min(remainingMs, longestSleepMs), undefined, { ref: false });
    }
  }

  /**
   * The key and the time of a job. The key is its second by the database's clock, like all due times. The scheduler compares the
   * time with the clock of this machine, so it is converted.
   */
  function jobFor(when: Date): { key: string; machineTime: Date } {
    const due = dueBucket(when);
    const machineAheadMs = Date.now() - clock.now();
    return { key: due.toISOString(), machineTime: new Date(due.getTime() + machineAheadMs) };
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

    /**
     * Defines the job of one second. It calls `attemptAllDue` at the beginning of the second, and again when further deliveries
     * become due within it.
     */
    define(attemptAllDue: () => Promise<void>, stopSignal: AbortSignal): void {
      async function runSecond(secondBegins: number): Promise<void> {
        const secondEnds = secondBegins + secondMs;
        let pollAt = secondBegins;
        for (;;) {
          await waitUntil(pollAt, stopSignal);
          // Read before the poll, so that deliveries that become due during the poll count as further ones.
          const polledAt = clock.now();
          await attemptAllDue();
          if (stopSignal.aborted || polledAt >= secondEnds) return;
          const next = await nextDue(new Date(polledAt), new Date(secondEnds));
          if (!next) return;
          pollAt = next.getTime() + batchDelayMs;
        }
      }
      scheduler.define(attemptsJob, (key) => runSecond(Date.parse(key)));
    },
  };
}
