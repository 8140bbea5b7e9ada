import { setTimeout as sleep } from 'node:timers/promises';
import type { Clock } from '../../platform/clock.ts';
import type { Scheduler } from '../../platform/jobs/scheduler.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { type BulkJob, nextPart, type Part } from './bulk-job.ts';
import type { BulkStore } from './bulk-store.ts';

/** The scheduler's job that makes a worker look for steps of bulk jobs. */
const bulkJob = 'webhook.bulk';

interface Settings {
  store: Pick<BulkStore, 'next' | 'lease' | 'save'>;
  /** Processes the next documents of one API key. @returns the part after the step */
  processStep: (job: BulkJob, part: Part) => Promise<Part>;
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
  let isWoken = false;

  const pause = (ms: number) => sleep(ms, undefined, { ref: false, signal }).catch(() => undefined);

  /** Takes the next step. If none is due, waits for the next one at most a second. @returns false if no job runs */
  async function takeStep(): Promise<boolean> {
    const next = await store.next();
    if (!next) return false;
    const remainingMs = next.nextAt.getTime() - clock.now();
    if (remainingMs > 0) {
      await pause(Math.min(longestWaitMs, Math.max(shortestWaitMs, remainingMs)));
      return true;
    }
    const leased = await store.lease(next, new Date(clock.now() + stepLeaseMs));
    const part = leased && nextPart(leased.parts);
    if (part) await store.save(leased, await processStep(leased, part), new Date(clock.now()));
    return true;
  }

  async function work(): Promise<void> {
    while (isWoken && !signal.aborted) {
      // The query may miss a job that `wake` announces meanwhile, so another query follows then.
      isWoken = false;
      try {
        if (await takeStep()) isWoken = true;
      } catch (error) {
        logger.warn({ err: error }, 'a step of a bulk job failed and is taken again');
        await pause(retryAfterFaultMs);
        isWoken = true;
      }
    }
    working = undefined;
  }

  /** Takes steps until no bulk job runs any more. */
  function wake(): void {
    isWoken = true;
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
