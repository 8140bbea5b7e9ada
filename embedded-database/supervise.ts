import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Launch, RunningProcess } from './engine/running.ts';

const firstPauseMs = 100;
const longestPauseMs = 2_000;
/** If a process ran this long, its start did not cause its end, so the next pause is the first one again. */
const soundAfterMs = 2_000;

/**
 * Keeps a database process running. If the process ends, it is started again on the same port, so that the driver can
 * reconnect. After repeated failures, the pauses between starts grow up to 2 s.
 *
 * @returns the port, the pid of the present process, and `stop`, which ends the process without a restart
 * @throws the error of the first launch
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
