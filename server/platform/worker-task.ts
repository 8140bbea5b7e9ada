import { constants, setPriority } from 'node:os';
import { parentPort, Worker, workerData } from 'node:worker_threads';
import { ApiError } from './errors.ts';

interface Settings {
  /** The built script of the worker, which calls `answerTask`. */
  script: URL;
  /** A task that takes longer is ended, in milliseconds. */
  timeoutMs: number;
  /** The most memory of JavaScript objects of a task, in MB. */
  memoryMb: number;
  /** The most tasks that wait. Further ones are refused. */
  mostWaiting: number;
}

/** A task that used too much time or memory, or that failed. */
export class TaskFailure extends Error {}

/**
 * Runs tasks in a worker thread, one at a time, so that they hold up neither the event loop nor each other's memory. Each task has a
 * thread of its own, which ends with it.
 * @returns a function that runs a task. It throws TaskFailure, and ApiError `service_unavailable` if too many tasks wait
 */
export function createWorkerTask<Input, Output>(settings: Settings): (input: Input) => Promise<Output> {
  const { script, timeoutMs, memoryMb, mostWaiting } = settings;
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function run(input: Input): Promise<Output> {
    const worker = new Worker(script, {
      workerData: input,
      resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: memoryMb / 4 },
    });
    let timer: NodeJS.Timeout | undefined;
    const ended = new Promise<Output>((resolve, reject) => {
      timer = setTimeout(() => reject(new TaskFailure('it took too long')), timeoutMs);
      worker.once('message', resolve);
      worker.once('error', (cause) => reject(new TaskFailure('it failed', { cause })));
      worker.once('exit', () => reject(new TaskFailure('it ended without a result')));
    });
    try {
      return await ended;
    } finally {
      clearTimeout(timer);
      await worker.terminate();
    }
  }

  return async (input) => {
    if (waiting >= mostWaiting)
      throw new ApiError('service_unavailable', {
        retryAfter: Math.ceil(timeoutMs / 1000),
        description: 'Too many files wait to be read; try again shortly',
      });
    waiting += 1;
    const result = last.then(() => run(input));
    last = result
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1;
      });
    return result;
  };
}

/** Runs the task of this worker thread, and sends its result. */
export function answerTask<Input, Output>(task: (input: Input) => Promise<Output>): void {
  // Requests go before files. On Linux, 0 names the calling thread; elsewhere it names the whole process.
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);
  void task(workerData as Input).then((output) => parentPort?.postMessage(output));
}
