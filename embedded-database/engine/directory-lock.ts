import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** Another process has the data directory open. */
export class DirectoryInUse extends Error {}

const lockTimeoutMs = 5_000;
const retryEveryMs = 100;

/** The engine locks `mongod.lock`. The kernel releases this lock whenever its holder ends. */
const isLockedByAnother = (error: unknown): boolean =>
  error instanceof Error && error.message.includes('DBPathInUse');

const holderFile = (directory: string): string => join(directory, 'svc-holder.pid');

const readHolder = (directory: string): string => {
  for (const path of [holderFile(directory), join(directory, 'mongod.lock')]) {
    try {
      const pid = readFileSync(path, 'utf8').trim();
      if (/^\d+$/.test(pid)) return pid;
    } catch {
      // The next file may contain the pid.
    }
  }
  return 'unknown';
};

/**
 * Opens a data directory. If a process that is just ending still holds the lock, waits for it up to 5 s.
 *
 * @param open opens the engine, and with that takes the lock
 * @param holder the pid to name to a later process that finds the directory taken
 * @throws DirectoryInUse with the pid of the holder
 */
export const openLocked = async <T>(
  directory: string,
  open: () => Promise<T>,
  holder: number,
): Promise<T> => {
  const deadline = performance.now() + lockTimeoutMs;
  for (;;) {
    try {
      const opened = await open();
      writeFileSync(holderFile(directory), `${holder}\n`, { mode: 0o600 });
      return opened;
    } catch (error) {
      if (!isLockedByAnother(error)) throw error;
      if (performance.now() >= deadline) {
        throw new DirectoryInUse(`${directory} is in use by process ${readHolder(directory)}`, {
          cause: error,
        });
      }
      await sleep(retryEveryMs);
    }
  }
};
