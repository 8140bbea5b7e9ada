import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { ApiError } from '../../platform/errors.ts';
import { type RemadeLogo, remakeLogo } from './logo.ts';

/** Reads an uploaded picture, in a thread of its own. */
async function remake(file: Uint8Array): Promise<RemadeLogo> {
  try {
    return { png: await remakeLogo(Buffer.from(file)) };
  } catch (error) {
    if (error instanceof ApiError) return { refused: error.message };
    throw error;
  }
}

// Requests go before files. On Linux, 0 names the calling thread; elsewhere it names the whole process.
if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_LOW);
parentPort?.postMessage(await remake(workerData));
