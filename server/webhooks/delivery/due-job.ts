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
/** If so many deliveries of a second wait, the job may ask other processes for help. One process sends 500 in less than a second. */
const muchWaiting = 500;
/** The most deliveries of a second that are counted. */
const mostCounted = 4_000;
/** Jobs that ask for help begin after so many milliseconds. The process that makes them would run earlier ones itself. */
const helpAfterMs = 2_000;
/**
 * Milliseconds between two jobs that ask for help. All processes poll for jobs once a second, and the first to poll takes a job.
 * So the part of a second in which a job begins decides who takes it. These jobs begin in ten different parts.
 */
const helpEveryMs = 700;
const helpJobs = 10;
/** The most by which different clocks make a job start early: twice what two trusted clocks may differ, in milliseconds. */
const mostEarlyMs = 8000;

/** The beginning of the second that contains a time. */
export const dueBucket = (at: Date): Date => new Date(Math.floor(at.getTime() / secondMs) * secondMs);

interface Settings {
  scheduler: Scheduler;
  clock: Pick<Clock, 'now'>;
  /** Whether another process sends deliveries too. */
  othersSend: () => Promise<boolean>;
  /** The due times of waiting deliveries in a span of time, the earliest first. */
  dueTimes: (from: Date, before: Date, limit: number) => Promise<Date[]>;
}

/** Schedules one job for each second with due deliveries, and further jobs if that second has very many. */
export function createDueJobs({ scheduler, clock, othersSend, dueTimes }: Settings) {
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
   * The key and the time of a job. The key is its beginning by the database's clock, like all due times. The scheduler compares
   * the time with the clock of this machine, so it is converted.
   */
  function jobFor(begin: Date): { key: string; machineTime: Date } {
    const machineAheadMs = Date.now() - clock.now();
    return { key: begin.toISOString(), machineTime: new Date(begin.getTime() + machineAheadMs) };
  }

  function beginAt(begin: Date, unless: 'waiting' | 'unfinished' = 'waiting'): Promise<void> {
    const { key, machineTime } = jobFor(begin);
    return scheduler.at(attemptsJob, machineTime, key, { unless });
  }

  /** How many deliveries of a second still wait, at most `mostCounted`. */
  async function waitingOf(second: number): Promise<number> {
    const waiting = await dueTimes(new Date(second), new Date(second + secondMs), mostCounted);
    return waiting.length;
  }

  /**
   * Asks other processes for help if more than two thirds of a second's deliveries still wait a second later, and another process
   * sends too. With fewer, this process has sent the rest before help comes.
   * @param waited how many waited at the time `from`
   */
  async function shareRest(second: number, waited: number, from: number, stopSignal: AbortSignal) {
    await waitUntil(from + secondMs, stopSignal);
    if (stopSignal.aborted) return;
    const waiting = await waitingOf(second);
    if (waiting > (waited * 2) / 3 && (await othersSend())) await askForHelp();
  }

  /** Makes jobs for other processes. Who takes one sends all that is due. Two processes that ask make the same jobs. */
  async function askForHelp(): Promise<void> {
    const first = Math.ceil((clock.now() + helpAfterMs) / helpEveryMs);
    const begins = Array.from({ length: helpJobs }, (_, n) => new Date((first + n) * helpEveryMs));
    await Promise.all(begins.map((begin) => beginAt(begin)));
  }

  return {
    /** Schedules the job of the second that contains this time. */
    at: (when: Date): Promise<void> => beginAt(dueBucket(when)),

    /** Schedules the job of a second if it has none, not even one that a process has locked. */
    repair: (second: Date): Promise<void> => beginAt(second, 'unfinished'),

    /** Changes the time of a waiting job. @returns false if no such job waits */
    move(jobId: string, when: Date): Promise<boolean> {
      const { key, machineTime } = jobFor(dueBucket(when));
      return scheduler.move(jobId, machineTime, key);
    },

    /**
     * Defines the job of one second. It calls `attemptAllDue` at the beginning of the second, and again when further deliveries
     * become due within it. If much still waits a second later, it asks other processes for help.
     * @param attemptAllDue returns how many deliveries were due
     */
    define(attemptAllDue: () => Promise<number>, stopSignal: AbortSignal): void {
      async function runSecond(secondBegins: number): Promise<void> {
        const secondEnds = secondBegins + secondMs;
        let pollAt = secondBegins;
        let polledAt: number;
        let waited = 0;
        for (;;) {
          await waitUntil(pollAt, stopSignal);
          // Read before the poll, so that deliveries that become due during the poll count as further ones.
          polledAt = clock.now();
          const count = await attemptAllDue();
          if (stopSignal.aborted) return;
          if (count >= muchWaiting) waited = Math.max(waited, await waitingOf(secondBegins));
          const further = new Date(Math.min(polledAt + 1, secondEnds));
          const [next] = await dueTimes(further, new Date(secondEnds), 1);
          if (!next) break;
          pollAt = next.getTime() + batchDelayMs;
        }
        if (waited >= muchWaiting) await shareRest(secondBegins, waited, polledAt, stopSignal);
      }
      scheduler.define(attemptsJob, async (key) => {
        const second = Date.parse(key);
        if (Number.isNaN(second)) throw new Error('the key of the job is no time');
        await runSecond(second);
      });
    },
  };
}
