import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Schema } from '../../../server/platform/database/schema/schema.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { freshDatabase } from '../../harness/database.ts';
import { createPartner, exchangeCode } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';

const masterKey = Buffer.alloc(32, 7).toString('base64');
const minute = 60_000;
/**
 * The previous build, and a build that adds a field to partners and a second form of their names, which the previous
 * build cannot read.
 */
const before: Schema = { version: 7, oldest: 7, migrations: [] };
const present: Schema = {
  version: 8,
  oldest: 7,
  migrations: [
    {
      name: 'partners have a region',
      to: 8,
      collection: 'partners',
      pending: { region: { $exists: false } },
      change: [{ $set: { region: 'none' } }],
      retiredIndexes: [{ collection: 'partners', name: 'legacy_1' }],
    },
    {
      name: 'partners have a title',
      to: 8,
      collection: 'partners',
      pending: { title: { $exists: false } },
      change: [{ $set: { title: '$name' } }],
      isFinal: true,
    },
  ],
};

const clock = manualClock();
let server: TestServer;
let start: (schema: Schema) => Promise<TestServer>;
let database: Awaited<ReturnType<typeof freshDatabase>>;
beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  const env = { MONGODB_URI: database.uri, SVC_MASTER_KEY: masterKey };
  start = (schema) => startTestServer({ clock, env, replacements: { schema, sweepsByHand: true } });
  const first = await start(before);
  await createPartner(first);
  await createPartner(first);
  await database.db.collection('partners').createIndex({ legacy: 1 });
  await first.stop();
  server = await start(present);
});
afterAll(async () => {
  await server.stop();
  await database.drop();
});

const readiness = async ({ publicUrl }: TestServer) => {
  const answer = await fetch(`${publicUrl}/readyz`);
  return { status: answer.status, ...((await answer.json()) as { reasons: string[] }) };
};
const withField = (name: string) =>
  database.db.collection('partners').countDocuments({ [name]: { $exists: true } });
const show = () => server.admin.schema.show.query();

describe('an upgrade', () => {
  it('migrates documents while processes of the previous build still run, and cannot be finished until they end', async () => {
    const old = await start(before);
    await server.sweep();
    expect([await withField('region'), await withField('title')]).toEqual([2, 0]);
    expect(await show()).toMatchObject({
      version: before.version,
      known: present.version,
      forms: 'old',
      migrations: [
        { to: present.version, changed: 2, done: true },
        { to: present.version, changed: 0, done: false },
      ],
    });
    const { processes } = await server.admin.status.query();
    expect(new Set(processes?.map(({ schema }) => schema))).toEqual(
      new Set([present.version, before.version]),
    );
    expect(await refusal(server.admin.schema.finish.mutate())).toBe('refused');
    expect((await readiness(old)).status).toBe(200);
    await old.stop();
  });

  it('can be finished twice with the same result; a process of the older build then answers 503 and cannot restart', async () => {
    const old = await start(before);
    const partner = await createPartner(old);
    const code = await completeSession(old, partner);
    // Its heartbeats are lost, so the other process cannot see it.
    await database.db.collection('processes').deleteMany({ schema: before.version });
    const finished = { version: present.version, left: 0 };
    expect(await server.admin.schema.finish.mutate()).toMatchObject(finished);
    expect(await server.admin.schema.finish.mutate()).toMatchObject(finished);
    await old.sweep();
    expect(await readiness(old)).toMatchObject({
      status: 503,
      reasons: [expect.stringContaining(`schema version ${present.version}, and this build`)],
    });
    const exchange = ({ publicUrl }: TestServer) => exchangeCode({ baseUrl: publicUrl }, partner, code);
    const answer = await exchange(old);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect((await fetch(`${old.publicUrl}/healthz`)).status).toBe(200);
    expect((await exchange(server)).status).toBe(200);
    await old.stop();
    await expect(start(before)).rejects.toThrow('start a newer build');
  });

  it('writes old and new fields for 75 minutes after it is finished, then only new ones, and drops old indexes', async () => {
    const indexes = async () => (await database.db.collection('partners').indexes()).map(({ name }) => name);
    clock.advance(2 * minute);
    await server.sweep();
    expect([await withField('region'), await withField('title')]).toEqual([3, 3]);
    expect(await show()).toMatchObject({ forms: 'both', bothUntil: expect.any(String) });
    clock.advance(75 * minute);
    await server.sweep();
    expect(await show()).toMatchObject({ forms: 'new' });
    expect(await indexes()).toContain('legacy_1');
    clock.advance(2 * minute);
    await server.sweep();
    expect(await indexes()).not.toContain('legacy_1');
    expect(await database.db.collection('meta').findOne({ _id: 'schema' as never })).not.toHaveProperty(
      'raisedAt',
    );
  });
});
