import { ApiError } from '../../platform/errors.ts';
import { createWorkerTask, TaskFailure } from '../../platform/worker-task.ts';
import type { RemadeLogo } from './logo.ts';

/** A picture of the largest size takes less than a second. A file that takes longer was made for it. */
const timeoutMs = 4_000;
const memoryMb = 64;
const mostWaiting = 8;

/** A worker thread runs built code. In tests, this file is a source. */
const script = new URL(
  import.meta.url.endsWith('.ts')
    ? '../../../dist/server/partners/brands/logo-worker.js'
    : './logo-worker.js',
  import.meta.url,
);

export type MakeLogo = (file: Buffer) => Promise<Buffer>;

/**
 * Returns a function that makes a new PNG from an uploaded PNG or JPEG, in a worker thread.
 * It throws ApiError: `refused` with the reason if the file is not acceptable, `service_unavailable` if too many wait.
 */
export function createLogoMaking(): MakeLogo {
  const runTask = createWorkerTask<Uint8Array, RemadeLogo>({ script, timeoutMs, memoryMb, mostWaiting });
  return async (file) => {
    const result = await runTask(file).catch((error: unknown) => {
      if (!(error instanceof TaskFailure)) throw error;
      throw new ApiError('refused', {
        description: 'The logo is too costly to read: save it again, with default settings',
        cause: error,
      });
    });
    if ('refused' in result) throw new ApiError('refused', { description: result.refused });
    return Buffer.from(result.png);
  };
}
