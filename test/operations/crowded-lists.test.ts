import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createStores } from '../../server/operations/stores.ts';
import { createExpiringSecretStore } from '../../server/operations/warnings/expiring-secret-store.ts';
import { createWarningStore } from '../../server/operations/warnings/warning-store.ts';
import { inTurns } from '../../server/platform/database/reads/in-turns.ts';
import { createHealthStore } from '../../server/webhooks/operators/endpoints/health-store.ts';
import { databaseOfServer } from '../harness/database.ts';

const now = Date.now();
const ago = (ms: number) => new Date(now - ms);
/** The partner with very many records, all newer or more urgent than the record of the other one. */
const noisy = 'ptr_a';
const quiet = 'ptr_z';
const many = 5_100;
const each = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
let db: Db;
let drop: () => Promise<void>;

const delivery = (n: number, partnerId: string, fields: object) => ({
  ...{ _id: `dlv_${partnerId}_${n}`, partnerId, mode: 'live', lane: 'first', trigger: 'schedule' },
  ...{ type: 'vae.resolved', attempt: 1, attempts: [{ at: ago(5), status: 500, error: 'http' }] },
  ...fields,
});
const failed = { status: 'failed', createdAt: ago(1_000) };
const pending = { status: 'pending', createdAt: ago(1_000) };
const failure = (n: number, partnerId: string, status: number) => ({
  ...{ _id: `req_${partnerId}_${n}_${status}`, partnerId, clientId: `cli_${partnerId}_${n % 30}`, status },
  ...{ at: ago(partnerId === noisy ? 1_000 : 60_000), route: '/api/oauth/token', error: 'payment_required' },
});
const expiring = (n: number, partnerId: string, lastUsedAt: Date) => ({
  _id: `cli_${partnerId}_${n}`,
  ...{ partnerId, mode: 'live' },
  secrets: [{ last4: 'abcd', expiresAt: new Date(now + 3_600_000), lastUsedAt }],
});
const warning = (n: number, partnerId: string, since: Date) => ({
  ...{ _id: `wrn_${partnerId}_${n}`, partnerId, mode: 'live', kind: 'secret_expiring', open: true },
  ...{ raisedAt: since, since, text: 'x', untold: 'raised' },
});

beforeAll(async () => {
  ({ db, drop } = await databaseOfServer());
  const insert = (collection: string, rows: object[]) =>
    db.collection(collection).insertMany(rows as never[]);
  await insert('deliveries', [
    ...each(many, (n) => delivery(n, noisy, { ...failed, keyId: `key_a${n % 300}` })),
    delivery(0, quiet, { ...failed, keyId: 'key_z', createdAt: ago(3_600_000) }),
    ...each(many, (n) =>
      delivery(many + n, noisy, { ...pending, mode: 'test', keyId: 'key_a0', nextAttemptAt: ago(60_000) }),
    ),
    delivery(1, quiet, { ...pending, keyId: 'key_y', nextAttemptAt: ago(30_000) }),
  ]);
  await insert('apiKeys', [{ _id: 'key_a0', hash: 'a', pause: { until: new Date(now + 3_600_000) } }]);
  await insert('requestLog', [...each(many, (n) => failure(n, noisy, 402)), failure(0, quiet, 402)]);
  await insert('clients', [
    ...each(600, (n) => expiring(n, noisy, ago(1_000))),
    ...each(600, (n) => expiring(600 + n, noisy, ago(7 * 86_400_000))),
    expiring(0, quiet, ago(1_000)),
  ]);
  await insert('warnings', [
    ...each(300, (n) => warning(n, noisy, ago(1_000))),
    warning(0, quiet, ago(60_000)),
  ]);
});

afterAll(() => drop());

/** The partners of rows. */
const partnersOf = (rows: readonly { partnerId?: string }[]) =>
  [...new Set(rows.map(({ partnerId }) => partnerId))].toSorted();
const both = [noisy, quiet];

describe('a partner with very many records', () => {
  it('hides no other among endpoints with failed or waiting deliveries, also in the list of one mode', async () => {
    const health = createHealthStore(db);
    const found = await health.troubled(new Date(now), { limit: 20 });
    expect(found).toHaveLength(20);
    expect(found.map(({ keyId }) => keyId)).toEqual(expect.arrayContaining(['key_z', 'key_y']));
    const ofTest = await health.troubled(new Date(now), { mode: 'test', limit: 20 });
    expect(ofTest.map(({ keyId }) => keyId)).toEqual(['key_a0']);
  });

  it('hides no other among expiring secrets, of which those that are not used do not count', async () => {
    const period = { from: new Date(now), to: new Date(now + 86_400_000), usedSince: ago(86_400_000) };
    const found = await createExpiringSecretStore(db).findExpiring(period);
    expect([found.length, partnersOf(found)]).toEqual([500, both]);
  });

  it('hides no other among warnings to be sent, and the next ones begin with the partner after the last one', async () => {
    const store = createWarningStore(db);
    expect(partnersOf(await store.findUnsent(100, ''))).toEqual(both);
    expect((await store.findUnsent(100, noisy))[0]?.partnerId).toBe(quiet);
    expect(await store.findOpen()).toHaveLength(301);
  });

  it('hides no other in any list of /ops', async () => {
    const { overview } = createStores(db).admin;
    const read = await overview.read(now);
    const lists = {
      failingEndpoints: read.failingEndpoints,
      nextAttempts: read.nextAttempts,
      recentErrors: read.recentErrors,
      warnings: read.warnings,
    };
    for (const [name, rows] of Object.entries(lists))
      expect([name, rows.length <= 20, partnersOf(rows)]).toEqual([name, true, both]);
    expect(read.failingEndpoints.find(({ keyId }) => keyId === 'key_z')).toMatchObject({ failed: 1 });
    expect(read.lateByMode.live).toBe(1);
    // The due deliveries of a paused key do not hide the late one of another key.
    expect(read.deliveries.oldestDueAt).toEqual(ago(30_000));
  });

  it('hides no other among exchanges that a wallet could not pay for', async () => {
    const { requests } = createStores(db).admin;
    expect(partnersOf(await requests.unpaid(ago(86_400_000)))).toEqual(both);
  });
});

it('items in turns are ordered by the turn of their owner, and keep their order within a turn', () => {
  expect(inTurns(['a1', 'a2', 'b1', 'a3', 'b2'], ([owner = '']) => owner)).toEqual([
    ...['a1', 'b1', 'a2', 'b2', 'a3'],
  ]);
});
