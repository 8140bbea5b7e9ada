import { mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MongoBinary, MongoInstance } from 'mongodb-memory-server-core';
import { DirectoryInUse } from './directory-lock.ts';
import type { RunningProcess } from './running.ts';

const lockTimeoutMs = 5_000;

const freePort = (): Promise<number> =>
  new Promise((found, failed) => {
    const server = createServer().once('error', failed);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => found(typeof address === 'object' && address ? address.port : 0));
    });
  });

const liveHolder = (directory: string): number | undefined => {
  try {
    const pid = Number(readFileSync(join(directory, 'mongod.lock'), 'utf8'));
    if (pid <= 0) return undefined;
    process.kill(pid, 0); // throws unless there is such a process
    return pid;
  } catch {
    return undefined; // never started, ended in order, or killed
  }
};

const waitForLock = async (directory: string): Promise<void> => {
  const deadline = performance.now() + lockTimeoutMs;
  for (let pid = liveHolder(directory); pid !== undefined; pid = liveHolder(directory)) {
    if (performance.now() >= deadline) throw new DirectoryInUse(`${directory} is in use by process ${pid}`);
    await sleep(100);
  }
};

const findOrDownload = async (): Promise<string> => {
  try {
    return await MongoBinary.getPath();
  } catch (cause) {
    throw new Error(
      'No embedded database runs on this machine and none could be downloaded: set MONGODB_URI to the address of a MongoDB server.',
      { cause },
    );
  }
};

/**
 * Starts MongoDB's own server on `<dataDir>/db`, for platforms without the embedded engine. The library
 * mongodb-memory-server finds or downloads the server, and ends it when this process has ended.
 *
 * @throws DirectoryInUse with the pid of the process that still uses the directory after 5 s
 * @throws Error that says to set MONGODB_URI, if there is no binary for the platform
 */
export const launchDownloaded = async (dataDir: string, port: number): Promise<RunningProcess> => {
  const directory = join(dataDir, 'db');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const systemBinary = await findOrDownload();
  await waitForLock(directory);
  const instance = await MongoInstance.create({
    binary: { systemBinary },
    instance: {
      port: port === 0 ? await freePort() : port,
      ip: '127.0.0.1',
      dbPath: directory,
      storageEngine: 'wiredTiger',
    },
    spawn: { detached: true },
  });
  const ended = new Promise<string>((settle) => {
    instance.mongodProcess?.once('close', (code, signal) => settle(signal ?? `exit code ${code}`));
  });
  return {
    pid: instance.mongodProcess?.pid ?? 0,
    port: instance.instanceOpts.port ?? 0,
    ended,
    stop: async () => {
      await instance.stop();
    },
  };
};
