import { chownSync, existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rememberAdminAddress } from '../../server/platform/config/admin-address.ts';
import { startTestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';

it('the file admin-url names the server that started last; after it has stopped, it names the first one', async () => {
  const first = await startTestServer();
  const address = () => readFileSync(join(first.dataDir, 'admin-url'), 'utf8').trim();
  expect(address()).toBe(first.adminUrl);
  const second = await startTestServer({ env: { SVC_DATA_DIR: first.dataDir, MONGODB_URI: first.uri } });
  expect(address()).toBe(second.adminUrl);
  await second.stop();
  expect(address()).toBe(first.adminUrl);
  await first.stop();
  expect(address()).toBe(first.adminUrl);
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
