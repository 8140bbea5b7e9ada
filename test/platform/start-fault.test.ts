import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MongoServerError } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from '../../server/platform/config/config.ts';
import { usableAddresses } from '../../server/process/addresses.ts';
import { fullDiskFault } from '../../server/process/database-parts.ts';
import { freePort } from '../harness/free-port.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';
import { endOf, spawnServer } from './server-process.ts';

/** Listens on a free port until the test ends. */
async function take(host: string): Promise<string> {
  const other = createServer().listen(0, host);
  await once(other, 'listening');
  onTestFinished(() => void other.close());
  return String((other.address() as AddressInfo).port);
}
const taken = (port: string, host: string, variable: string) =>
  `Port ${port} on ${host} is taken: end the program that listens there, or set ${variable} to another port.`;

it('the server exits with 1 and one sentence, without a database, if the port of SVC_PORT is in use', async () => {
  const [port, dataDir] = [await take('127.0.0.1'), temporaryFolder('taken')];
  const env = { SVC_DATA_DIR: dataDir, SVC_DEMO_PORT: 'off', SVC_PORT: port };
  const { child, output } = spawnServer({ ...env, SVC_ADMIN_PORT: String(await freePort()) });
  expect(await endOf(child)).toBe(1);
  expect(output()).toBe(`${taken(port, '127.0.0.1', 'SVC_PORT')}\n`);
  expect(readdirSync(dataDir)).toEqual([]);
});

const hasIPv6 = Object.values(networkInterfaces()).some((all) =>
  all?.some(({ address }) => address === '::1'),
);

it.for([
  ['SVC_ADMIN_PORT', '127.0.0.1', 'SVC_PORT'],
  // localhost leads to it.
  ['SVC_PORT', '::1', 'SVC_ADMIN_PORT'],
] as const)(
  'a start fails if another program has the port of %s at %s',
  async ([name, host, free], { skip }) => {
    if (host === '::1' && !hasIPv6) skip('this machine has no IPv6');
    const port = await take(host);
    const config = readConfig({
      SVC_DATA_DIR: temporaryFolder('taken'),
      [name]: port,
      [free]: String(await freePort()),
    });
    await expect(usableAddresses(config)).rejects.toThrow(taken(port, host, name));
  },
);

it.skipIf(process.platform !== 'linux')(
  'a start ends with a sentence if the file system refuses to make the data directory',
  { timeout: within(60_000) },
  async () => {
    const ports = { SVC_PORT: String(await freePort()), SVC_ADMIN_PORT: String(await freePort()) };
    // `mkdir -p` of Node.js never returns here.
    const { child, output } = spawnServer({ ...ports, SVC_DATA_DIR: '/proc/svc', SVC_DEMO_PORT: 'off' });
    expect(await endOf(child)).toBe(1);
    expect(output()).toContain('SVC_DATA_DIR: the directory cannot be used: ENOENT');
  },
);

it('a full disk of the embedded database ends the start with a sentence, and other errors do not', () => {
  const full = new MongoServerError({
    code: 14_031,
    errmsg: 'available disk space of 1 bytes is less than required',
  });
  expect(fullDiskFault(full, '/var/lib/svc')?.message).toMatch(
    /^The disk of \/var\/lib\/svc has less than 500 MB free/,
  );
  expect(fullDiskFault(new MongoServerError({ code: 13, errmsg: 'no' }), '/var/lib/svc')).toBeUndefined();
});

it('a build that is up to date needs no directory that can be written to', {
  timeout: within(60_000),
}, async () => {
  const copy = temporaryFolder('read-only');
  const root = fileURLToPath(new URL('../../', import.meta.url));
  // Root may write everywhere, so the place of the lock is a file, and cannot become a directory.
  for (const name of ['.config', 'docs', 'sdk', 'server', 'cli', 'contracts', 'embedded-database', 'test'])
    symlinkSync(join(root, name), join(copy, name));
  for (const name of ['package.json', 'package-lock.json', 'tsconfig.json', 'tsconfig.build.json'])
    symlinkSync(join(root, name), join(copy, name));
  writeFileSync(join(copy, 'dist'), '');
  const run = () => spawnSync(process.execPath, ['.config/build.mjs'], { cwd: copy, encoding: 'utf8' });
  expect(run()).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^The code has changed since the last build/),
  });
  unlinkSync(join(copy, 'dist'));
  symlinkSync(join(root, 'dist'), join(copy, 'dist'));
  expect(run()).toMatchObject({ status: 0, stderr: '' });
});
