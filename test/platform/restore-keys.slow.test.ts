import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../../server/platform/config/config.ts';
import { createSealing } from '../../server/platform/keys/sealing.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { backup, restore } from '../../server/process/backup/backup.ts';
import { closeRestored } from '../../server/process/backup/restored.ts';
import { startServer } from '../../server/process/start.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, verifyUser } from '../harness/partner.ts';
import { startTestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';

const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const nameOf = (byte: number) => createSealing([new Uint8Array(32).fill(byte)]).masterKeys[0];

const configOf = (dataDir: string, env: Record<string, string> = {}) =>
  readConfig({ SVC_DATA_DIR: dataDir, ...env });

/** The backup of an installation that has started once. */
async function backupOf(env: Record<string, string>): Promise<string> {
  const dataDir = temporaryFolder('data');
  const config = configOf(dataDir, {
    SVC_PORT: String(await freePort()),
    SVC_ADMIN_PORT: String(await freePort()),
    ...env,
  });
  const server = await startServer(config, createLogger('silent'));
  await server.stop();
  const target = join(temporaryFolder('backup'), 'backup');
  await backup(config, target);
  return target;
}

const refused = (byte: number) => ({
  name: 'ConfigError',
  faults: [
    expect.stringMatching(
      new RegExp(`^SVC_MASTER_KEY lacks keys .*: ${nameOf(byte)} \\(5\\)\\. .*Nothing was changed\\.$`),
    ),
  ],
});

it(
  'a backup is restored only with its own master key; otherwise restore throws a ConfigError and writes nothing',
  async () => {
    const from = await backupOf({ SVC_MASTER_KEY: keyOf(1) });
    const parent = temporaryFolder('target');
    const absent = join(parent, 'new', 'data');
    // Without SVC_MASTER_KEY, the directory would get a key of its own.
    await expect(restore(configOf(absent), from)).rejects.toMatchObject(refused(1));
    expect(readdirSync(parent)).toEqual([]);
    const wrong = { SVC_MASTER_KEY: keyOf(2) };
    const there = temporaryFolder('there');
    writeFileSync(join(there, 'note'), 'mine');
    await expect(restore(configOf(there, wrong), from)).rejects.toMatchObject(refused(1));
    expect(readdirSync(there)).toEqual(['note']);

    const both = { SVC_MASTER_KEY: `${keyOf(2)},${keyOf(1)}` };
    expect(await restore(configOf(there, both), from)).toMatchObject({ sessions: 0, codes: 0 });
    expect(readdirSync(there).toSorted()).toEqual(['admin-token', 'db', 'note']);
  },
  within(120_000),
);

it(
  'a backup that contains a generated master key is restored, unless SVC_MASTER_KEY is another key',
  async () => {
    const from = await backupOf({});
    const there = join(temporaryFolder('there'), 'data');
    await expect(restore(configOf(there, { SVC_MASTER_KEY: keyOf(2) }), from)).rejects.toThrow(/lacks keys/);
    expect(existsSync(there)).toBe(false);
    await restore(configOf(there), from);
    expect(readdirSync(there).toSorted()).toEqual(['admin-token', 'db', 'master-key']);
  },
  within(120_000),
);

it('closeRestored invalidates the codes in a copied database only if it has the master key of that database', async () => {
  const server = await startTestServer();
  const partner = await createPartner(server);
  await verifyUser(server, partner);
  const { db, uri } = server;
  const restored = { uri, embedded: false, source: 'a test' };
  const open = () => db.collection('sessions').countDocuments({ expiresAt: { $gt: new Date() } });
  const before = await open();
  expect(before).toBeGreaterThan(0);
  const masterKeys = [new Uint8Array(32).fill(2)];
  await expect(closeRestored({ ...restored, masterKeys })).rejects.toMatchObject(refused(7));
  expect(await open()).toBe(before);
  expect(await db.collection('auditLog').countDocuments({ action: 'database.restored' })).toBe(0);
  const right = [new Uint8Array(32).fill(7)];
  // The process that serves has sent a heartbeat.
  await expect(closeRestored({ ...restored, masterKeys: right })).rejects.toThrow(
    new RegExp(`used this database within 45 s: \\S+ ${process.pid}`),
  );
  expect(await open()).toBe(before);
  await db.collection('processes').deleteMany({});
  expect(await closeRestored({ ...restored, masterKeys: right })).toMatchObject({ codes: 1 });
  await server.stop();
});
