import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createServerProcess } from './server-process.ts';

it('a process that shares the data directory leaves the address of the other one behind', async () => {
  const first = await createServerProcess();
  await first.start();
  const address = () => readFileSync(join(first.dataDir, 'admin-url'), 'utf8').trim();
  const before = address();
  const shared = { SVC_DATA_DIR: first.dataDir, MONGODB_URI: first.databaseUri() };
  const second = await createServerProcess(shared);
  await second.start();
  expect(address()).not.toBe(before);
  await second.end('SIGTERM');
  expect(address()).toBe(before);
  await first.end('SIGTERM');
  expect(address()).toBe(before);
}, 60_000);
