import { chownSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rememberAdminAddress } from '../../server/platform/config/admin-address.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { createServerProcess } from './server-process.ts';

it('the file admin-url names the process that started last; after this process has stopped, it names the first one', async () => {
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
});

/** Returns a directory of another user. root creates one; any other user gets a directory of root. */
function foreignDirectory(): string {
  if (process.getuid?.() !== 0) return '/usr';
  const directory = temporaryFolder('foreign');
  chownSync(directory, 65_534, 65_534);
  return directory;
}

it("the file admin-url is not written into another user's directory or a missing one, and no warning is logged", () => {
  const warned: unknown[] = [];
  const logger = { warn: (...parts: unknown[]) => void warned.push(parts) };
  const absent = join(tmpdir(), `svc-absent-${process.pid}`);
  for (const directory of [foreignDirectory(), absent]) {
    rememberAdminAddress(directory, 'http://127.0.0.1:8081', logger)();
    expect(existsSync(join(directory, 'admin-url'))).toBe(false);
  }
  expect(existsSync(absent)).toBe(false);
  expect(warned).toEqual([]);
});
