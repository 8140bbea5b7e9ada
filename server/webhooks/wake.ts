import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../platform/clock.ts';
import type { Scheduler } from '../platform/scheduler.ts';

/** The one job of this feature: wakes whatever falls due within a second. */
export const attemptsJob = 'webhook.attempts';

const second = 1000;
const longestSleep = 1000;
/** Twice what two clocks may be off that are trusted. */
const byAnyClock = 8000;

/** The whole second at whose end everything due within it is due. */
export const dueSecond = (at: Date): Date => new Date(Math.ceil(at.getTime() / second) * second);

/** Schedules attempts: one job a due second, however many deliveries it wakes. */
export function createWake({ scheduler, clock }: { scheduler: Scheduler; clock: Pick<Clock, 'now'> }) {
  return {
    at(when: Date): Promise<void> {
      const due = dueSecond(when);
      // The scheduler goes by the machine's clock.
      const machineTime = new Date(due.getTime() - clock.now() + Date.now());
      return scheduler.at(attemptsJob, machineTime, due.toISOString());
    },

    /** Has `attempt` called for each due second, never before it by our own clock, and not at all once `ended`. */
    define(attempt: () => Promise<void>, ended: AbortSignal): void {
      scheduler.define(attemptsJob, async (key) => {
        const due = Date.parse(key);
        // Another machine may have scheduled it, by a clock that is not ours; much earlier, an operator ran it.
        for (
          let early = due - clock.now();
          early > 0 && early < byAnyClock && !ended.aborted;
          early = due - clock.now()
        ) {
          await sleep(Math.min(early, longestSleep), undefined, { ref: false });
        }
        await attempt();
      });
    },
  };
}

export type Wake = ReturnType<typeof createWake>;
