import { afterAll, beforeAll, expect, it } from 'vitest';
import { reportIndexDrift } from '../../server/platform/database/indexes.ts';
import { schemaVersion } from '../../server/platform/database/schema.ts';
import { presentedCode } from '../../server/verification/session/code.ts';
import { indexes } from '../../server/wiring/indexes.ts';
import { freshDatabase } from '../harness/database.ts';
import { createPartner, exchangeCode, type TestPartner, type Visit, visit } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';

/** The upgrade from schema version 2, in which codes name no session and a unique index keeps identities apart. */
const minute = 60_000;
const masterKey = Buffer.alloc(32, 7).toString('base64');
const oldIndexes = ['code.hash_1', 'handoff.linkHash_1', 'identity_1'];

let database: Awaited<ReturnType<typeof freshDatabase>>;
let start: (knownSchema: number) => Promise<TestServer>;
let present: TestServer;
let partner: TestPartner;
const clock = manualClock();

beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  const env = { MONGODB_URI: database.uri, SVC_MASTER_KEY: masterKey };
  start = (knownSchema) => startTestServer({ clock, env, replacements: { knownSchema, sweepsByHand: true } });
  // As the build before has left it.
  await (await start(schemaVersion)).stop();
  const { db } = database;
  await db
    .collection<{ _id: string }>('meta')
    .replaceOne({ _id: 'schema' }, { version: schemaVersion - 1, oldestBuild: '0.8.0' });
  const sessions = db.collection('sessions');
  await sessions.createIndex({ 'code.hash': 1 }, { unique: true, sparse: true });
  await sessions.createIndex({ 'handoff.linkHash': 1 }, { unique: true, sparse: true });
  await db.collection('users').createIndex({ identity: 1 }, { unique: true });
  present = await start(schemaVersion);
  partner = await createPartner(present);
});
afterAll(async () => {
  await present.stop();
  await database.drop();
});

const visitAt = (server: TestServer, person?: string) =>
  visit({ baseUrl: `http://localhost:${server.config.public.port}` }, partner, person);

/** @returns the `sub` that userinfo answers to the token of the code */
async function redeem(server: TestServer, visited: Visit): Promise<string> {
  const answer = await exchangeCode({ baseUrl: server.publicUrl }, partner, visited);
  expect(answer.status).toBe(200);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const headers = { authorization: `Bearer ${token}` };
  const userinfo = await fetch(`${server.publicUrl}/api/oauth/userinfo`, { headers });
  return ((await userinfo.json()) as { sub: string }).sub;
}

const refused = async (visited: Visit) => {
  const answer = await exchangeCode({ baseUrl: present.publicUrl }, partner, visited);
  return ((await answer.json()) as { error_description: string }).error_description;
};
const documents = (name: string, prefix: string) =>
  database.db.collection(name).countDocuments({ _id: new RegExp(`^${prefix}`) as never });
const sessionNamed = async ({ code }: Visit) =>
  (await documents('sessions', presentedCode(code).sessionId ?? 'none')) === 1;
const oldIndexesLeft = async () => {
  const all = await Promise.all(
    ['sessions', 'users'].map((name) => database.db.collection(name).listIndexes().toArray()),
  );
  const names = all.flat().map((index): string => index['name']);
  return oldIndexes.filter((name) => names.includes(name));
};
const schema = () => present.admin.schema.show.query();

it('codes, links, users and indexes of schema version 2 are of use until they have expired', async () => {
  const before = await start(schemaVersion - 1);
  expect(await schema()).toMatchObject({ version: 2, forms: 'old', bothUntil: null });

  // Each build takes the codes of the other, and both know the same person.
  const [there, here] = [await visitAt(before), await visitAt(present)];
  const sub = await redeem(present, there);
  expect(await redeem(before, here)).toBe(sub);
  expect([await sessionNamed(there), await sessionNamed(here)]).toEqual([false, false]);
  await Promise.all([before, present].map((server) => visitAt(server, 'new-adult')));
  await present.sweep();
  expect([await documents('users', 'usr_'), await documents('users', 'idn_')]).toEqual([3, 0]);

  const [underWay, late, neverUsed] = [
    await visitAt(before, 'adult'),
    await visitAt(before, 'biometric'),
    await visitAt(before, 'adult'),
  ];
  await before.stop();
  expect(await present.admin.schema.finish.mutate()).toMatchObject({ version: 3, forms: 'both', left: 0 });
  expect(await redeem(present, underWay)).toBe(sub);
  await present.sweep();
  const named = await visitAt(present);
  expect(await sessionNamed(named)).toBe(true);
  expect(await redeem(present, late)).not.toBe(sub);
  expect(await redeem(present, named)).toBe(sub);
  expect(await documents('users', 'idn_')).toBe(0);

  clock.advance(1.1 * minute);
  await present.sweep();
  expect([await documents('users', 'usr_'), await documents('users', 'idn_')]).toEqual([4, 4]);
  const { forms, bothUntil, migrations } = await schema();
  expect({ forms, done: migrations.every(({ done }) => done) }).toEqual({ forms: 'both', done: true });
  expect(Date.parse(bothUntil ?? '') - clock.now()).toBeGreaterThan(70 * minute);
  expect(await redeem(present, await visitAt(present))).toBe(sub);
  expect(await refused(underWay)).toMatch(/already used/);
  expect(await oldIndexesLeft()).toEqual(oldIndexes);

  clock.advance(75 * minute);
  await present.sweep();
  await present.sweep();
  expect(await schema()).toMatchObject({ forms: 'new', bothUntil: null });
  expect(await oldIndexesLeft()).toEqual(oldIndexes);
  expect(await redeem(present, await visitAt(present))).toBe(sub);
  expect(await refused(neverUsed)).toMatch(/^Unknown/);

  clock.advance(1.1 * minute);
  await present.sweep();
  expect(await oldIndexesLeft()).toEqual([]);
  expect(await reportIndexDrift(database.db, indexes)).toEqual([]);
  const meta = await database.db.collection<{ _id: string }>('meta').findOne({ _id: 'schema' });
  expect(meta).toEqual({ _id: 'schema', version: 3, oldestBuild: expect.any(String) });
  expect(await redeem(present, await visitAt(present))).toBe(sub);
  const [one, other] = await Promise.all(['new-adult', 'new-adult'].map((who) => visitAt(present, who)));
  expect(await redeem(present, one as Visit)).not.toBe(await redeem(present, other as Visit));
});
