import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Scheduler } from '../../platform/jobs/scheduler.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Part } from './bulk-job.ts';
import type { BulkStore, Step } from './bulk-store.ts';

/** The scheduler's job that makes a worker look for steps of bulk jobs. */
const bulkJob = 'webhook.bulk';

interface Settings {
  store: Pick<BulkStore, 'lease' | 'nextDue' | 'save'>;
  /** Processes the next documents of one API key. @returns the part after the step */
  processStep: (step: Step) => Promise<Part>;
  scheduler: Pick<Scheduler, 'at' | 'define'>;
  /** Whether this process takes steps. */
  worker: boolean;
  clock: Pick<Clock, 'now'>;
  logger: Pick<Logger, 'warn'>;
}

/** After this time, another process may take the same step. The few commands of a step never take so long. */
export const stepLeaseMs = 20_000;
/** The bounds of one wait, in milliseconds. A wait is short, because a job that is announced during it begins only afterwards. */
const shortestWaitMs = 10;
const longestWaitMs = 1_000;
const retryAfterFaultMs = 1_000;

/** Takes the steps of all bulk jobs one after another, so that a process uses the database for only one of them at a time. */
export function createBulkRunner({ store, processStep, scheduler, worker, clock, logger }: Settings) {
  const stopping = new AbortController();
  const { signal } = stopping;
  let working: Promise<void> | undefined;
  /** Counts the calls of `wake`, to notice a call during a query. */
  let wakes = 0;

  const pause = (ms: number) => sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);

  /** Takes the next step. If none is due, waits for the next one at most a second. @returns false if no job runs */
  async function takeStep(): Promise<boolean> {
    const now = clock.now();
    const token = randomBytes(16).toString('base64url');
    const taken = await store.lease(token, new Date(now), new Date(now + stepLeaseMs));
    if (taken) {
      await store.save(taken, await processStep(taken), new Date(clock.now()));
      return true;
    }
    const next = await store.nextDue();
    if (!next) return false;
    const remainingMs = next.getTime() - clock.now();
    await pause(Math.min(longestWaitMs, Math.max(shortestWaitMs, remainingMs)));
    return true;
  }

  /** Takes steps until no job runs. */
  async function work(): Promise<void> {
    while (!signal.aborted) {
      const wakesBefore = wakes;
      try {
        const hasJobs = await takeStep();
        // The query may have missed a job that `wake` announced meanwhile, so another query follows.
        if (!hasJobs && wakes === wakesBefore) break;
      } catch (error) {
        logger.warn({ err: error }, 'a step of a bulk job failed and is taken again');
        await pause(retryAfterFaultMs);
      }
    }
    working = undefined;
  }

  /** Takes steps until no bulk job runs any more. */
  function wake(): void {
    wakes += 1;
    working ??= work();
  }

  scheduler.define(bulkJob, async () => wake());

  return {
    wake,
    /** Makes this process, or another one that sends, take the first step of a job. */
    async announce(bulkId: string): Promise<void> {
      if (worker) wake();
      else await scheduler.at(bulkJob, new Date(), bulkId);
    },
    /** Takes no more steps, and resolves when the result of the step under way is saved. */
    async stop(): Promise<void> {
      stopping.abort();
      await working;
    },
  };
}
