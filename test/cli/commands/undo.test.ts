import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { undoable } from '../../../cli/undo/settings.ts';
import { createShop, type Shop } from '../../api/storefront/shop.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
let partner: TestPartner;
let shop: Shop;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
  [partner, shop] = await Promise.all([createPartner(server), createShop(server)]);
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'https://one.example/hook' });
});
afterAll(() => server.stop());

/** The id of the last request that this action made. */
async function requestOf(action: string): Promise<string> {
  await server.services.admin.auditLog.sweep();
  const [entry] = await server.admin.auditLog.list.query({ action, limit: 1 });
  return entry?.requestId ?? '';
}
const undo = (request: string, ...more: string[]) =>
  svcadmin.run(['audit-log', 'undo', request, '--yes', ...more]);

/** For each action: a change, and the read of the fields that it changes. */
const changes: Record<string, { make: () => Promise<unknown>; read: () => Promise<unknown> }> = {
  'partners.update': {
    make: () =>
      server.admin.partners.update.mutate({
        partnerId: partner.partnerId,
        name: 'New',
        vatId: 'DE123456789',
      }),
    read: () => server.admin.partners.show.query({ partnerId: partner.partnerId }),
  },
  'clients.update': {
    make: () =>
      server.admin.clients.update.mutate({
        ...{ clientId: partner.clientId, passkeys: false, openid: true, defaultClaims: ['age_18_plus'] },
        ...{ claims: ['age_18_plus'], sources: ['sandbox'], idTokenAlg: 'ES256', purpose: 'To sell wine' },
        addRedirectUris: ['http://localhost:1/'],
      }),
    read: () => server.admin.clients.show.query({ clientId: partner.clientId }),
  },
  'integrations.update': {
    make: () =>
      server.admin.integrations.update.mutate({
        ...{ integrationId: shop.integrationId, addShops: ['two.example'] },
      }),
    read: async () =>
      (await server.admin.integrations.show.query({ integrationId: shop.integrationId })).shops,
  },
  'limits.set': {
    make: () => server.admin.limits.set.mutate({ partnerId: partner.partnerId, mode: 'test', perMinute: 7 }),
    read: async () => {
      const { perMinute, perHour } = await server.admin.limits.show.query({ partnerId: partner.partnerId });
      return { perMinute, perHour };
    },
  },
  'webhooks.changeUrl': {
    make: () =>
      server.admin.webhooks.changeUrl.mutate({ keyId: partner.keyId, url: 'https://two.example/hook' }),
    read: async () => (await server.admin.webhooks.show.query({ keyId: partner.keyId })).url,
  },
  'webhooks.setNotices': {
    make: () => server.admin.webhooks.setNotices.mutate({ keyId: partner.keyId, notices: true }),
    read: async () => (await server.admin.webhooks.show.query({ keyId: partner.keyId })).notices,
  },
};

describe('svcadmin audit-log list', () => {
  it('has the role that the operator had, and none for entries of earlier builds', async () => {
    const { token } = await server.admin.operators.create.mutate({ name: 'Kim', role: 'support' });
    const { id: partnerId } = await server.as(token).partners.create.mutate({ name: 'Acme' });
    await server.admin.partners.activate.mutate({ partnerId });
    await server.services.admin.auditLog.sweep();
    const log = server.db.collection('auditLog');
    await log.updateOne({ target: partnerId, action: 'partners.activate' }, { $unset: { operatorRole: '' } });
    const list = ['audit-log', 'list', '--target', partnerId];
    expect(await svcadmin.json(...list)).toMatchObject([
      { operatorRole: null },
      { operatorName: 'Kim', operatorRole: 'support' },
    ]);
    expect((await svcadmin.run([...list, '--where', 'role=support'])).stdout).toMatch(
      /Kim\tsupport\tpartners\.create/,
    );
  });
});

describe('svcadmin audit-log undo', () => {
  it('has a case for each change that can be undone', () => {
    expect(['partners.close', ...Object.keys(changes)].sort()).toEqual([...undoable].sort());
  });

  it.each(Object.keys(changes))('sets again what %s has replaced, once', async (action) => {
    const { make, read } = changes[action] ?? expect.fail();
    const before = await read();
    await make();
    const changed = await read();
    expect(changed).not.toEqual(before);
    const request = await requestOf(action);
    const dry = await undo(request, '--dry-run');
    expect(dry.stdout, dry.stderr).toMatch(/Would do: .* changes back: /);
    expect(await read()).toEqual(changed);
    const done = await undo(request);
    expect(done, done.stderr).toMatchObject({ code: 0 });
    expect(await read()).toEqual(before);
    const again = await undo(request);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('already; nothing changes') });
    expect((await undo(request, '--dry-run')).stdout).toContain(
      'Would do: nothing, because this is done already',
    );
    expect(await read()).toEqual(before);
    // The undo has an entry of its own, and can be undone.
    expect(await undo(await requestOf(action))).toMatchObject({ code: 0 });
    expect(await read()).toEqual(changed);
  });

  describe('of partners close', () => {
    const closed = async (status: 'active' | 'suspended' | 'pending') => {
      const { id: partnerId } = await server.admin.partners.create.mutate({ name: `Was ${status}` });
      if (status !== 'pending') await server.admin.partners.activate.mutate({ partnerId });
      if (status === 'suspended') await server.admin.partners.suspend.mutate({ partnerId });
      await server.admin.partners.close.mutate({ partnerId, reason: 'end of contract' });
      const show = async () => {
        const { status: now, closedAt } = await server.admin.partners.show.query({ partnerId });
        return [now, closedAt !== null];
      };
      return { partnerId, show, request: await requestOf('partners.close') };
    };

    it('activates the partner again, once', async () => {
      const { request, show } = await closed('active');
      const dry = await undo(request, '--dry-run');
      expect(dry.stdout, dry.stderr).toMatch(/Would do: .* changes back: .*closed/);
      expect(await show()).toEqual(['closed', true]);
      expect(await undo(request)).toMatchObject({ code: 0 });
      expect(await show()).toEqual(['active', false]);
      expect(await undo(request)).toMatchObject({ code: 0, stderr: expect.stringContaining('already') });
    });

    it.each(['suspended', 'pending'] as const)(
      'is refused (exit 5) if the partner was %s',
      async (status) => {
        const { request, show } = await closed(status);
        for (const more of [[], ['--dry-run']])
          expect(await undo(request, ...more)).toMatchObject({ code: 5 });
        expect(await show()).toEqual(['closed', true]);
      },
    );
  });

  it('says that a change of another kind is not undone, and which command takes money back', async () => {
    const { partnerId } = partner;
    await server.admin.partners.create.mutate({ name: 'Other' });
    const created = await undo(await requestOf('partners.create'));
    expect(created).toMatchObject({ code: 2, stdout: '' });
    expect(created.stderr).toContain('A change by partners.create is not undone');
    await server.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 5125, reference: 'wrong' });
    const funded = await undo(await requestOf('wallets.fund'), '--dry-run');
    expect(funded).toMatchObject({ code: 2, stdout: '' });
    expect(funded.stderr).toContain('A change by wallets.fund is not undone');
    expect(funded.stderr).toContain(
      `svcadmin wallets adjust ${partnerId} --mode test --amount=-51.25 --reason TEXT`,
    );
  });

  it('is in conflict (exit 5) with a value that was changed again since', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'First' });
    await server.admin.partners.update.mutate({ partnerId, name: 'Second' });
    const request = await requestOf('partners.update');
    await server.admin.partners.update.mutate({ partnerId, name: 'Third' });
    for (const more of [[], ['--dry-run']]) {
      const { code, stderr } = await undo(request, ...more, '--json');
      expect(code).toBe(5);
      expect(JSON.parse(stderr)).toMatchObject({
        error: { code: 'conflict', message: `name of ${partnerId} was changed again since` },
      });
    }
    expect(await server.admin.partners.show.query({ partnerId })).toMatchObject({ name: 'Third' });
  });

  it('refuses a request that changed nothing (exit 5), and an unknown one (exit 4)', async () => {
    const { partnerId } = partner;
    await server.admin.partners.activate.mutate({ partnerId });
    const refused = await undo(await requestOf('partners.activate'));
    expect(refused).toMatchObject({ code: 5, stdout: '' });
    expect(refused.stderr).toContain('changed no settings');
    expect(await undo('req_0000000000000000000000')).toMatchObject({ code: 4 });
  });
});
