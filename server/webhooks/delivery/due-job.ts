import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Scheduler } from '../../platform/scheduler.ts';

/** The one job of this feature: wakes whatever falls due within one second. */
export const attemptsJob = 'webhook.attempts';

const second = 1000;
const longestSleep = 1000;
/** Milliseconds for which to gather before looking again. */
const moment = 50;
/** Twice what two clocks may be off that are trusted. */
const byAnyClock = 8000;

/** The beginning of the second within which a moment lies. */
export const dueSecond = (at: Date): Date => new Date(Math.floor(at.getTime() / second) * second);

export type Wake = ReturnType<typeof createWake>;

interface Settings {
  scheduler: Scheduler;
  clock: Pick<Clock, 'now'>;
  /** When something falls due next within a span of time. */
  nextDue: (after: Date, before: Date) => Promise<Date | undefined>;
}

/** Schedules attempts: one job a second in which any is due, however many deliveries it wakes. */
export function createWake({ scheduler, clock, nextDue }: Settings) {
  /** Waits until `due` by our own clock; not for a job that an operator ran long before. */
  async function wait(due: number, ended: AbortSignal): Promise<void> {
    for (let early = due - clock.now(); early > 0 && early < byAnyClock; early = due - clock.now()) {
      if (ended.aborted) return;
      await sleep(Math.min(early, longestSleep), undefined, { ref: false });
    }
  }

  /** The second of a moment: its key, and its time by the machine's clock, which the scheduler goes by. */
  function jobFor(when: Date): { key: string; machineTime: Date } {
    const due = dueSecond(when);
    return { key: due.toISOString(), machineTime: new Date(due.getTime() - clock.now() + Date.now()) };
  }

  return {
    at(when: Date): Promise<void> {
      const { key, machineTime } = jobFor(when);
      return scheduler.at(attemptsJob, machineTime, key);
    },

    /** Makes a job that waits wake attempts at another time; false where there is none that waits. */
    move(jobId: string, when: Date): Promise<boolean> {
      const { key, machineTime } = jobFor(when);
      return scheduler.move(jobId, machineTime, key);
    },

    /** Has `attempt` called through each due second, as soon as anything in it is due and never before. */
    define(attempt: () => Promise<void>, ended: AbortSignal): void {
      scheduler.define(attemptsJob, async (key) => {
        const begins = Date.parse(key);
        const ends = new Date(begins + second);
        // Another machine may have scheduled it, by a clock that is not ours.
        for (let due = begins; ; ) {
          await wait(due, ended);
          // From before the look on: what falls due while it is under way belongs to the next.
          const looked = clock.now();
          await attempt();
          const next =
            ended.aborted || looked >= ends.getTime() ? undefined : await nextDue(new Date(looked), ends);
          if (!next) return;
          // What falls due within a moment is woken together.
          due = next.getTime() + moment;
        }
      });
    },
  };
}
