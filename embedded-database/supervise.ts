import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Launch, RunningProcess } from './engine/running.ts';

const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** A process that lived this long did not die of how it was started. */
const soundAfterMs = 2_000;

/**
 * Keeps a database process running: one that ends is started again on the port it had, so that the driver's
 * connections find it there. Repeated failures are spaced out, up to 2 s.
 *
 * @returns the first process's port, the pid of the present one, and `stop`, which ends it for good
 * @throws what the first launch throws
 */
export const supervise = async (launch: Launch, port: number, logger: Pick<Logger, 'warn' | 'error'>) => {
  let running: RunningProcess | undefined = await launch(port);
  const boundPort = running.port;
  const stopping = new AbortController();
  const isStopping = (): boolean => stopping.signal.aborted;

  const restart = async (): Promise<RunningProcess | undefined> => {
    try {
      const started = await launch(boundPort);
      logger.warn({ enginePid: started.pid, port: boundPort }, 'the database process was started again');
      return started;
    } catch (error) {
      logger.error({ err: error }, 'the database process does not start');
      return undefined;
    }
  };

  const watch = async (): Promise<void> => {
    let pause = firstPauseMs;
    while (!isStopping()) {
      if (running) {
        const since = performance.now();
        const reason = await running.ended;
        if (isStopping()) return;
        logger.error({ enginePid: running.pid, reason }, 'the database process ended');
        running = undefined;
        if (performance.now() - since >= soundAfterMs) pause = firstPauseMs;
      }
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => undefined);
      pause = Math.min(pause * 2, longestPauseMs);
      if (!isStopping()) running = await restart();
    }
  };
  const watching = watch();

  return {
    port: boundPort,
    pid: (): number | undefined => running?.pid,
    stop: async (): Promise<void> => {
      stopping.abort();
      await running?.stop();
      await watching;
      await running?.stop(); // one that was just being started
    },
  };
};
