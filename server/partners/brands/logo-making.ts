import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { ApiError } from '../../platform/errors.ts';
import type { RemadeLogo } from './logo.ts';

/** A picture of the largest size takes less than a second. A file that takes longer was made for it. */
const timeoutMs = 4_000;
/** The most memory of JavaScript objects of a thread, in MB. */
const memoryMb = 64;
/** The most files that wait. Further ones are refused. */
const mostWaiting = 8;

/** A worker thread runs built code. In tests, this file is a source. */
const script = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/server/partners/brands/logo-worker.js'
    : './logo-worker.js',
  import.meta.url,
);

/** Reads a file in a thread of its own, which ends with it. @throws Error if it takes too much time or memory, or fails */
async function remakeInThread(file: Buffer): Promise<RemadeLogo> {
  const worker = new Worker(script, {
    workerData: file,
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: memoryMb / 4 },
  });
  // An error after the time limit has no other listener, and would end the process.
  worker.on('error', () => undefined);
  try {
    const [remade] = await once(worker, 'message', { signal: AbortSignal.timeout(timeoutMs) });
    return remade;
  } finally {
    await worker.terminate();
  }
}

/**
 * Returns a function that makes a new PNG from an uploaded PNG or JPEG. Files are read one at a time, so that they hold up neither
 * the event loop nor each other's memory.
 * It throws ApiError: `refused` with the reason if the file is not acceptable, `service_unavailable` if too many wait.
 */
export function createLogoMaking(): (file: Buffer) => Promise<Buffer> {
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  return async (file) => {
    if (waiting >= mostWaiting)
      throw new ApiError('service_unavailable', {
        retryAfter: timeoutMs / 1000,
        description: 'Too many files wait to be read; try again shortly',
      });
    waiting += 1;
    const remaking = last.then(() => remakeInThread(file));
    last = remaking
      .catch(() => undefined)
      .finally(() => {
        waiting -= 1;
      });
    const result = await remaking.catch((cause: unknown) => {
      throw new ApiError('refused', {
        description: 'The logo is too costly to read: save it again, with default settings',
        cause,
      });
    });
    if ('refused' in result) throw new ApiError('refused', { description: result.refused });
    return Buffer.from(result.png);
  };
}
