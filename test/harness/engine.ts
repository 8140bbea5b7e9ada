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
    /** A folder with a file for each database that no test uses now. */
    unusedDatabases: string;
    /** Whether this is the slow tier. In the quick tier, some tests try only a part of their cases. */
    thorough: boolean;
  }
}

/** Returns a folder in memory if the machine has one with 2 GiB of space, so that writes do not wait for a disk. */
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
    // A signal to another user's process is not permitted, so the process exists.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}

/** Deletes the databases of test runs that were killed, because they use memory. */
function removeAbandoned(folder: string): void {
  for (const name of readdirSync(folder)) {
    const [, pid] = new RegExp(`^${prefix}(\\d+)-`).exec(name) ?? [];
    if (pid && !isRunning(Number(pid))) rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/**
 * Starts one database server for the whole run: the mongod of MONGOMS_SYSTEM_BINARY, or else the built embedded engine. With
 * MONGODB_URI, starts none, and the tests use that server.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const unusedDatabases = mkdtempSync(join(tmpdir(), 'svc-test-unused-databases-'));
  project.provide('unusedDatabases', unusedDatabases);
  const removeNames = async () => rmSync(unusedDatabases, { recursive: true, force: true });
  const givenUri = process.env['MONGODB_URI'];
  if (givenUri) {
    project.provide('mongodbUri', givenUri);
    return removeNames;
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
    await removeNames();
  };
}
