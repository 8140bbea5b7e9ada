import { mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoMemoryServer } from 'mongodb-memory-server-core';
import type { TestProject } from 'vitest/node';

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
  const server = await MongoMemoryServer.create({
    binary: { systemBinary },
    instance: {
      storageEngine: 'wiredTiger',
      dbPath: mkdtempSync(join(quickestFolder(), 'svc-test-database-')),
    },
  });
  project.provide('mongodbUri', server.getUri());
  return async () => {
    await server.stop({ doCleanup: true, force: true });
  };
}
