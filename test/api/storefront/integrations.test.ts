import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IntegrationView, IntegrationWithSecret } from '../../../contracts/admin/integrations.ts';
import { isWellFormedSecret } from '../../../server/platform/ids.ts';
import { commandLine } from '../../cli/svcadmin.ts';
import { refusal, startTestServer, type TestServer } from '../../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

async function onboard(kind: 'oauth' | 'storefront' = 'storefront') {
  const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
  const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
  const { id: clientId } = await server.admin.clients.create.mutate({
    partnerId,
    keyId,
    name: 'Shop',
    kind,
    redirectUris: ['https://shop.example/callback'],
    claims: ['age_18_plus'],
  });
  return { partnerId, keyId, clientId };
}

describe('an integration', () => {
  it('has its shops in lower case after its creation, and its secret is not stored in plain text', async () => {
    const { partnerId, clientId } = await onboard();
    const created = IntegrationWithSecret.parse(
      await server.admin.integrations.create.mutate({
        partnerId,
        clientId,
        shops: ['Shop.Example', 'shop.example', 'shop.example.de'],
      }),
    );
    const { integrationSecret, ...view } = created;
    expect(view).toMatchObject({ mode: 'test', status: 'active', secretVersion: 1 });
    expect(view.shops).toEqual(['shop.example', 'shop.example.de']);
    expect(isWellFormedSecret('integrationSecret', integrationSecret)).toBe(true);
    expect(await server.admin.integrations.show.query({ integrationId: view.id })).toEqual(view);
    const { name: partnerName } = await server.admin.partners.show.query({ partnerId });
    expect(await server.admin.integrations.list.query({ partnerId })).toEqual([{ ...view, partnerName }]);
    const stored = await server.db.collection('integrations').findOne({ _id: view.id as never });
    expect(JSON.stringify(stored)).not.toContain(integrationSecret);
  });

  it("is refused for an OAuth client and for another partner's client, and as bad_input for malformed shops", async () => {
    const { partnerId, clientId } = await onboard();
    const oauth = await onboard('oauth');
    const create = (input: Parameters<typeof server.admin.integrations.create.mutate>[0]) =>
      refusal(server.admin.integrations.create.mutate(input));
    const shops = ['shop.example'];
    expect(await create({ partnerId: oauth.partnerId, clientId: oauth.clientId, shops })).toBe('refused');
    expect(await create({ partnerId: oauth.partnerId, clientId, shops })).toBe('refused');
    for (const shop of ['https://shop.example', 'shop', 'shop.example/path', 'a b.example', ''])
      expect(await create({ partnerId, clientId, shops: [shop] })).toBe('bad_input');
    expect(await create({ partnerId, clientId, shops: [] })).toBe('bad_input');
  });

  it('can gain and lose shops, but not its last one, without a new secret', async () => {
    const { partnerId, clientId } = await onboard();
    const { integrations, auditLog } = server.admin;
    const shops = ['shop.example', 'old.example'];
    const created = await integrations.create.mutate({ partnerId, clientId, shops });
    const integrationId = created.id;
    const update = (change: { addShops?: string[]; removeShops?: string[] }) =>
      integrations.update.mutate({ integrationId, ...change });
    const changed = await update({ addShops: ['New.Example', 'shop.example'], removeShops: ['old.example'] });
    expect(changed.shops).toEqual(['shop.example', 'new.example']);
    expect(changed.secretVersion).toBe(1);
    // A repeated addition changes nothing.
    expect((await update({ addShops: ['new.example'] })).shops).toEqual(changed.shops);
    expect(await refusal(update({ removeShops: ['old.example'] }))).toBe('refused');
    expect(await refusal(update({ removeShops: changed.shops }))).toBe('refused');
    const many = Array.from({ length: 99 }, (_, n) => `shop-${n}.example`);
    expect(await refusal(update({ addShops: many }))).toBe('refused');
    expect(await refusal(update({}))).toBe('bad_input');
    const log = await auditLog.list.query({ target: integrationId, action: 'integrations.update' });
    expect(log.find(({ outcome }) => outcome === 'changed')).toMatchObject({
      before: { shops },
      after: { shops: changed.shops },
    });
    await Promise.all(['a', 'b', 'c'].map((name) => update({ addShops: [`${name}.example`] })));
    const { shops: all } = await integrations.show.query({ integrationId });
    expect(all).toEqual(expect.arrayContaining(['a.example', 'b.example', 'c.example']));
    await integrations.disable.mutate({ integrationId });
    expect(await refusal(update({ addShops: ['d.example'] }))).toBe('conflict');
  });

  it('gets no new secret after it was disabled (conflict); the audit log records each change and refusal', async () => {
    const { partnerId, clientId } = await onboard();
    const { id: integrationId } = await server.admin.integrations.create.mutate({
      partnerId,
      clientId,
      shops: ['shop.example'],
    });
    const rotated = await server.admin.integrations.rotateSecret.mutate({ integrationId });
    expect(rotated).toMatchObject({ secretVersion: 2, rotatedAt: expect.any(String) });
    expect(await server.admin.integrations.disable.mutate({ integrationId })).toMatchObject({
      status: 'disabled',
    });
    expect(await refusal(server.admin.integrations.rotateSecret.mutate({ integrationId }))).toBe('conflict');
    const log = await server.admin.auditLog.list.query({ target: integrationId });
    expect(log.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['integrations.rotateSecret', 'refused'],
      ['integrations.disable', 'changed'],
      ['integrations.rotateSecret', 'changed'],
      ['integrations.create', 'changed'],
    ]);
    expect(JSON.stringify(log)).not.toContain('intsec_');
  });
});

describe('svcadmin integrations', () => {
  it('creates and lists an integration, and with --yes rotates its secret and disables it', async () => {
    const { partnerId, clientId } = await onboard();
    const svcadmin = await commandLine(server.adminUrl);
    const create = ['integrations', 'create', '--partner', partnerId, '--client', clientId];
    const created = await svcadmin.json<IntegrationWithSecret>(...create, '--shop', 'shop.example');
    expect(created.integrationSecret).toMatch(/^intsec_/);
    const { id } = created;
    expect(await svcadmin.json('integrations', 'list', '--client', clientId)).toMatchObject([{ id }]);
    expect((await svcadmin.run(['integrations', 'rotate-secret', id])).code).toBe(2);
    const rotated = await svcadmin.json('integrations', 'rotate-secret', id, '--yes');
    expect(rotated).toMatchObject({ id, secretVersion: 2, integrationSecret: expect.any(String) });
    expect(rotated).not.toMatchObject({ integrationSecret: created.integrationSecret });
    const disabled = await svcadmin.json('integrations', 'disable', id, '--yes');
    expect(IntegrationView.parse(disabled).status).toBe('disabled');
  });
});
