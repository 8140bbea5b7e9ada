import { ApiError } from '../../platform/errors.ts';
import { answerTask } from '../../platform/worker-task.ts';
import { type RemadeLogo, remakeLogo } from './logo.ts';

/** The part of the process that reads uploaded pictures, in a thread of its own. */
answerTask<Uint8Array, RemadeLogo>(async (file) => {
  try {
    return { png: await remakeLogo(Buffer.from(file)) };
  } catch (error) {
    if (error instanceof ApiError) return { refused: error.message };
    throw error;
  }
});
