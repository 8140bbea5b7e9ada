import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { schemaVersion } from '../../../server/platform/database/schema.ts';
import { freshDatabase } from '../../harness/database.ts';
import { createPartner, exchangeCode, visit } from '../../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../../harness/server.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64');
/** Builds of schema version 1 did not follow rotations of keys. */
const older = 1;

let present: TestServer;
let start: (knownSchema: number) => Promise<TestServer>;
let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  const env = { MONGODB_URI: database.uri, SVC_MASTER_KEY: masterKey };
  start = (knownSchema) => startTestServer({ env, replacements: { knownSchema } });
  // As the build before has left it.
  await (await start(schemaVersion)).stop();
  const meta = database.db.collection<{ _id: string }>('meta');
  await meta.replaceOne({ _id: 'schema' }, { version: older });
  await meta.deleteMany({ _id: { $ne: 'schema' } });
  await database.db.collection('keys').updateMany({}, { $unset: { activeAt: '' } });
  present = await start(schemaVersion);
});
afterAll(async () => {
  await present.stop();
  await database.drop();
});

const readiness = async ({ publicUrl }: TestServer) => {
  const answer = await fetch(`${publicUrl}/readyz`);
  return { status: answer.status, ...((await answer.json()) as { reasons: string[] }) };
};

describe('an upgrade', () => {
  it('migrates in the background, and lets the build before run until it is finished', async () => {
    const before = await start(older);
    await present.sweep();
    expect(await database.db.collection('keys').countDocuments({ activeAt: { $exists: true } })).toBe(4);
    expect(await present.admin.schema.show.query()).toMatchObject({
      version: older,
      known: schemaVersion,
      migrations: [
        { to: 2, changed: 4, done: true },
        { to: schemaVersion, changed: 0, done: false },
      ],
    });
    const { processes } = await present.admin.status.query();
    expect(processes?.map(({ schema }) => schema)).toEqual([schemaVersion, older]);
    expect(await refusal(present.admin.keyring.rotate.mutate({ use: 'signing' }))).toBe('refused');
    expect(await refusal(present.admin.schema.finish.mutate())).toBe('refused');
    expect((await readiness(before)).status).toBe(200);
    await before.stop();
  });

  it('is finished once; a process of the build before stops its work and says so', async () => {
    const before = await start(older);
    const partner = await createPartner(before);
    const code = await visit(before, partner);
    // Its heartbeats are lost, as those of a process that cannot be seen.
    await database.db.collection('processes').deleteMany({ schema: older });
    expect(await present.admin.schema.finish.mutate()).toMatchObject({ version: schemaVersion, left: 0 });
    expect(await present.admin.schema.finish.mutate()).toMatchObject({ version: schemaVersion, left: 0 });
    await before.sweep();
    expect(await readiness(before)).toMatchObject({
      status: 503,
      reasons: [expect.stringContaining(`schema version ${schemaVersion}, and this build`)],
    });
    const exchange = ({ publicUrl }: TestServer) => exchangeCode({ baseUrl: publicUrl }, partner, code);
    const answer = await exchange(before);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await fetch(`${before.publicUrl}/healthz`)).status).toBe(200);
    expect((await exchange(present)).status).toBe(200);
    await before.stop();
    await present.admin.keyring.rotate.mutate({ use: 'signing' });
  });
});
