import { fileURLToPath } from 'node:url';
import { MongoMemoryServer } from 'mongodb-memory-server-core';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    mongodbUri: string;
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
    instance: { storageEngine: 'wiredTiger' },
  });
  project.provide('mongodbUri', server.getUri());
  return async () => {
    await server.stop();
  };
}
