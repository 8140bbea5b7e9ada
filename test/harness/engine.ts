import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoMemoryServer } from 'mongodb-memory-server-core';
import type { TestProject } from 'vitest/node';
import { within } from './time-limits.ts';

declare module 'vitest' {
  interface ProvidedContext {
    mongodbUri: string;
    /** True in the slow tier, for tests that try a part of their cases in the quick one. */
    thorough: boolean;
  }
}

/** A file system in memory, where the machine has one with room: there a journaled write waits for no disk. */
function quickestFolder(): string {
  const [memory, needed] = ['/dev/shm', 2 ** 31];
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= needed ? memory : tmpdir();
  } catch {
    return tmpdir();
  }
}

const prefix = 'svc-test-database-';

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be asked, and is there.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Runs that were killed leave their databases, and take memory with them. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid && !isRunning(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * One database server for the whole run: the one that MONGODB_URI names, the mongod that MONGOMS_SYSTEM_BINARY
 * names, or else the embedded engine as `npm run build` left it.
 */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const given = process.env['MONGODB_URI'];
  if (given) {
    project.provide('mongodbUri', given);
    return undefined;
  }
  process.env['MONGOMS_SYSTEM_BINARY_VERSION_CHECK'] ??= 'false';
  const systemBinary =
    process.env['MONGOMS_SYSTEM_BINARY'] ?? fileURLToPath(new URL('mongod', import.meta.url));
  const folder = quickestFolder();
  removeAbandoned(folder);
  const server = await MongoMemoryServer.create({
    binary: { systemBinary },
    instance: {
      storageEngine: 'wiredTiger',
      launchTimeout: within(30_000),
      dbPath: mkdtempSync(join(folder, `${prefix}${process.pid}-`)),
    },
  });
  project.provide('mongodbUri', server.getUri());
  return async () => {
    await server.stop({ doCleanup: true, force: true });
  };
}
