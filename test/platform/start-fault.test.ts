import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { freePort } from '../harness/free-port.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { endOf, spawnServer } from './server-process.ts';

it.each([
  ['SVC_PORT', 'SVC_ADMIN_PORT'],
  ['SVC_ADMIN_PORT', 'SVC_PORT'],
])(
  'the server exits with 1 and one sentence, without a database, if the port of %s is in use',
  async (taken, free) => {
    const other = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => other.once('listening', resolve));
    onTestFinished(() => void other.close());
    const { port } = other.address() as AddressInfo;
    const dataDir = temporaryFolder('taken');
    const { child, output } = spawnServer({
      SVC_DATA_DIR: dataDir,
      SVC_DEMO_PORT: 'off',
      [taken]: String(port),
      [free]: String(await freePort()),
    });
    expect(await endOf(child)).toBe(1);
    expect(output()).toBe(
      `Port ${port} on 127.0.0.1 is taken: end the program that listens there, or set ${taken} to another port.\n`,
    );
    expect(readdirSync(dataDir)).toEqual([]);
  },
);
