import type { Sweep } from '../database/event-draft.ts';
import type { Logger } from '../telemetry/logging.ts';
import type { Background } from './background.ts';

/** Default time between two rounds, in milliseconds. */
export const sweepInterval = 15_000;
/** A round may begin so many milliseconds early, to share a command with other work. */
const mostEarlyMs = 1_000;

interface Settings {
  background: Background;
  logger: Pick<Logger, 'warn'>;
  /** Milliseconds between the end of a round and the next one. */
  every?: number;
}

/**
 * Runs all sweeps one after another, at the start and every 15 s. One command looks which of them have work, and the others are
 * left out. A failed sweep runs again in the next round.
 */
export function createSweeper(sweeps: readonly Sweep[], settings: Settings) {
  const { background, logger, every = sweepInterval } = settings;
  const earlyMs = Math.min(every, mostEarlyMs);
  let isStarted = false;
  let isStopping = false;
  let timer: NodeJS.Timeout | undefined;
  let cancel = () => {};
  let round: Promise<void> = Promise.resolve();

  async function hasWork({ look }: Sweep): Promise<boolean> {
    if (!look) return true;
    const { reads, isDue = (found) => found.some((documents) => documents.length > 0) } = look();
    // If the look fails, the sweep decides. Its own failure is logged.
    return Promise.all(reads.map((read) => background.read(read))).then(isDue, () => true);
  }

  async function sweepAll(): Promise<void> {
    const due = await Promise.all(sweeps.map(hasWork));
    for (const { name, sweep } of sweeps.filter((_, index) => due[index])) {
      // While the database is away, each sweep takes seconds to fail.
      if (isStopping) return;
      await sweep().catch((error: unknown) => logger.warn({ err: error, sweep: name }, 'a sweep failed'));
    }
  }

  function wait(): void {
    if (!isStarted) return;
    timer = setTimeout(() => {
      cancel = background.wakeWithin(earlyMs, next);
    }, every - earlyMs).unref();
  }

  function next(): void {
    round = sweepAll().finally(wait);
  }

  return {
    /** Begins the rounds. Resolves when the first one has ended. */
    start(): Promise<void> {
      isStarted = true;
      isStopping = false;
      next();
      return round;
    },
    /** Runs one round now. Resolves when it has ended. */
    sweep: sweepAll,
    /** Begins no more sweeps. Resolves when the present one has ended. */
    async stop(): Promise<void> {
      isStarted = false;
      isStopping = true;
      clearTimeout(timer);
      cancel();
      await round;
    },
  };
}
