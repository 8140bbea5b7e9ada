import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createShop } from '../../api/storefront/shop.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

const day = 86_400_000;
let server: TestServer;
let svcadmin: CommandLine;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
  partner = await createPartner(server);
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'https://shop.example/hook' });
});
afterAll(() => server.stop());

describe('svcadmin secrets list', () => {
  it('lists the secrets of active records with their age and the command that replaces them', async () => {
    const { apiKey, clientSecret } = partner;
    const found = await svcadmin.json<Record<string, unknown>[]>('secrets', 'list');
    expect(found.map(({ kind, last4, next }) => [kind, last4, next])).toEqual(
      expect.arrayContaining([
        ['apiKey', apiKey.slice(-4), `keys rotate ${partner.keyId}`],
        ['webhookSecret', expect.any(String), `webhooks prepare-secret ${partner.keyId}`],
        ['clientSecret', clientSecret.slice(-4), `clients rotate-secret ${partner.clientId}`],
      ]),
    );
    expect(JSON.stringify(found)).not.toContain(apiKey);
  });

  it('shows with --older-than only secrets that were made before, by their last rotation', async () => {
    const old = async () => (await svcadmin.json<unknown[]>('secrets', 'list', '--older-than', '90d')).length;
    expect(await old()).toBe(0);
    const ago = new Date(Date.now() - 91 * day);
    const keys = server.db.collection<{ _id: string }>('apiKeys');
    await keys.updateOne({ _id: partner.keyId }, { $set: { createdAt: ago } });
    expect(await svcadmin.json('secrets', 'list', '--older-than', '90d')).toMatchObject([
      { id: partner.keyId, kind: 'apiKey', madeAt: ago.toISOString() },
    ]);
    await server.admin.keys.rotate.mutate({ keyId: partner.keyId });
    expect(await old()).toBe(0);
  });
});

describe('svcadmin secrets list of replaced secrets', () => {
  it('lists those of a key, a client and an integration while they are accepted, until when, and their last use', async () => {
    const { partnerId, keyId, clientId, integrationId, integrationSecret } = await createShop(server);
    const { db, admin } = server;
    const keepOldSeconds = 3_600;
    await admin.keys.rotate.mutate({ keyId, keepOldSeconds });
    await admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds });
    await admin.integrations.rotateSecret.mutate({ integrationId, keepOldSeconds });
    await admin.webhooks.set.mutate({ keyId, url: 'https://shop.example/hook' });
    const lastUsedAt = new Date();
    const $set = { 'webhook.lastUsedAt': lastUsedAt };
    await db.collection<{ _id: string }>('apiKeys').updateOne({ _id: keyId }, { $set });
    const list = ['secrets', 'list', '--partner', partnerId];
    const found = await svcadmin.json<Record<string, unknown>[]>(...list);
    const old = found.filter(({ expiresAt }) => expiresAt !== null);
    const kinds = ['apiKey', 'clientSecret', 'integrationSecret'];
    expect(old.map(({ kind }) => kind).toSorted()).toEqual(kinds);
    expect(old).toContainEqual(expect.objectContaining({ last4: integrationSecret.slice(-4) }));
    expect(found.map(({ kind }) => kind).toSorted()).toEqual(
      [...kinds, ...kinds, 'webhookSecret'].toSorted(),
    );
    expect(found).toContainEqual(
      expect.objectContaining({ kind: 'webhookSecret', lastUsedAt: lastUsedAt.toISOString() }),
    );
  });
});

describe('svcadmin enrollments list', () => {
  it('shows the blocked enrollments of all partners, but not all enrollments', async () => {
    const enrollments = server.db.collection<{ _id: string }>('enrollments');
    const rows = ['one', 'two', 'three'].map((name, n) => ({
      ...{ _id: `enr_${name}`, partnerId: `ptr_${name}`, clientId: 'cli_1', mode: 'test', userId: 'usr_1' },
      ...{ sub: name, status: n < 2 ? 'blocked' : 'active', consentedClaims: [], firstSession: 'ses_1' },
      ...{ createdAt: new Date(n), audit: [] },
    }));
    await enrollments.insertMany(rows as never);
    expect(await svcadmin.json('enrollments', 'list', '--status', 'blocked')).toMatchObject([
      { id: 'enr_two', partnerId: 'ptr_two' },
      { id: 'enr_one', partnerId: 'ptr_one' },
    ]);
    expect((await svcadmin.run(['enrollments', 'list', '--status', 'blocked', '--count'])).stdout).toBe(
      '2\n',
    );
    const page = ['enrollments', 'list', '--status', 'blocked', '--after', 'enr_two'];
    expect(await svcadmin.json(...page)).toMatchObject([{ id: 'enr_one' }]);
    expect((await svcadmin.run(['enrollments', 'list'])).code).toBe(2);
    expect(await svcadmin.json('enrollments', 'list', '--partner', 'ptr_one')).toHaveLength(1);
  });
});
