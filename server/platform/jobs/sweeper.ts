import type { Sweep } from '../database/event-draft.ts';
import type { Logger } from '../telemetry/logging.ts';

/** Default time between two rounds, in milliseconds. */
export const sweepInterval = 15_000;

/**
 * Runs all sweeps one after another, at the start and every 15 s. A failed sweep runs again in the next round.
 * @param every milliseconds between the end of a round and the next one
 */
export function createSweeper(sweeps: readonly Sweep[], logger: Pick<Logger, 'warn'>, every = sweepInterval) {
  let isStarted = false;
  let timer: NodeJS.Timeout | undefined;
  let round: Promise<void> = Promise.resolve();

  async function sweepAll(): Promise<void> {
    for (const { name, sweep } of sweeps) {
      await sweep().catch((error: unknown) => logger.warn({ err: error, sweep: name }, 'a sweep failed'));
    }
  }

  function next(): void {
    round = sweepAll().finally(() => {
      if (isStarted) timer = setTimeout(next, every).unref();
    });
  }

  return {
    start(): void {
      isStarted = true;
      timer = setTimeout(next, 0).unref();
    },
    /** Runs one round now. Resolves when it has ended. */
    sweep: sweepAll,
    async stop(): Promise<void> {
      isStarted = false;
      clearTimeout(timer);
      await round;
    },
  };
}
