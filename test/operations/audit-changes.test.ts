import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';

/** The audit entry of one call: its action, and the values before and after. */
type Change = readonly [action: string, before: unknown, after: unknown];

const clock = manualClock();
/** Each change gets its own millisecond, so that the order is known. */
const ticking = {
  ...clock,
  now() {
    clock.advance(1);
    return clock.now();
  },
};
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock: ticking });
});
afterAll(() => server.stop());

/** Returns the changes in the audit log of a target, the oldest first. */
async function changesOf(target: string): Promise<Change[]> {
  const entries = await server.admin.auditLog.list.query({ target });
  for (const { operatorId, operatorName, operatorRole, requestId, address } of entries) {
    expect([operatorId, operatorName, operatorRole]).toEqual(['opr_first', 'SVC_ADMIN_TOKEN', 'owner']);
    expect(requestId).toMatch(/^req_/);
    expect(address).toMatch(/^127\.0\.0\./);
  }
  const changes = entries.filter(({ outcome }) => outcome !== 'read').toReversed();
  return changes.map(({ action, before, after }) => [action, before, after] as const);
}

describe('the audit log', () => {
  it('records the values before and after a change of a partner', async () => {
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    await admin.partners.activate.mutate({ partnerId });
    await admin.partners.suspend.mutate({ partnerId });
    await admin.prices.set.mutate({ partnerId, kind: 'token', cents: 40 });
    await admin.prices.set.mutate({ partnerId, kind: 'checkbox', cents: 30 });
    await admin.prices.set.mutate({ partnerId, kind: 'token', cents: 35 });
    expect(await changesOf(partnerId)).toEqual([
      ['partners.create', null, { name: 'Acme', status: 'pending' }],
      ['partners.activate', { status: 'pending' }, { status: 'active' }],
      ['partners.suspend', { status: 'active' }, { status: 'suspended' }],
      ['prices.set', {}, { token: 40 }],
      ['prices.set', { token: 40 }, { token: 40, checkbox: 30 }],
      ['prices.set', { token: 40, checkbox: 30 }, { token: 35, checkbox: 30 }],
    ]);
  });

  it('records the values before and after a change of an API key and its endpoint', async () => {
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId, last4 } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    const rotated = await admin.keys.rotate.mutate({ keyId });
    const [one, two] = ['https://one.example/', 'https://two.example/'];
    const secrets = [
      await admin.webhooks.set.mutate({ keyId, url: one }),
      await admin.webhooks.set.mutate({ keyId, url: two }),
      await admin.webhooks.rotateSecret.mutate({ keyId }),
    ];
    const [first, second, third] = secrets.map(({ signingSecret }) => ({ last4: signingSecret.slice(-4) }));
    await admin.webhooks.unset.mutate({ keyId });
    await admin.webhooks.set.mutate({ keyId, url: one });
    await admin.keys.revoke.mutate({ keyId });
    expect(await changesOf(keyId)).toEqual([
      ['keys.create', null, { partnerId, mode: 'test', status: 'active' }],
      ['keys.rotate', { last4 }, { last4: rotated.last4 }],
      ['webhooks.set', { url: null, secretVersion: 0 }, { url: one, secretVersion: 1 }],
      ['webhooks.set', { url: one, secretVersion: 1, ...first }, { url: two, secretVersion: 2 }],
      ['webhooks.rotateSecret', { url: two, secretVersion: 2, ...second }, { url: two, secretVersion: 3 }],
      ['webhooks.unset', { url: two, secretVersion: 3, ...third }, { url: null, secretVersion: 3 }],
      ['webhooks.set', { url: null, secretVersion: 3 }, { url: one, secretVersion: 4 }],
      ['keys.revoke', { status: 'active' }, { status: 'revoked' }],
    ]);
  });

  it('records the values before and after a change of a client and its integration', async () => {
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    const redirectUris = ['https://shop.example/'];
    const wanted = { name: 'Shop', kind: 'storefront' as const, redirectUris };
    const { id: clientId } = await admin.clients.create.mutate({
      ...wanted,
      partnerId,
      keyId,
      claims: ['age_18_plus'],
    });
    await admin.clients.update.mutate({ clientId, name: 'Wine', claims: ['age_18_plus', 'country'] });
    await admin.clients.update.mutate({ clientId, purpose: 'to sell wine', tokenRequestsPerMinute: 60 });
    await admin.clients.update.mutate({ clientId, purpose: null, tokenRequestsPerMinute: null });
    const { secrets } = await admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds: 60 });
    const [fresh, old] = secrets.map(({ last4 }) => last4);
    await admin.clients.disable.mutate({ clientId });
    await admin.clients.enable.mutate({ clientId });
    const shops = ['shop.example'];
    const { id: integrationId, last4 } = await admin.integrations.create.mutate({
      partnerId,
      clientId,
      shops,
    });
    await admin.integrations.rotateSecret.mutate({ integrationId });
    await admin.integrations.disable.mutate({ integrationId });
    expect(await changesOf(clientId)).toEqual([
      ['clients.create', null, { ...wanted, partnerId, keyId, mode: 'test', claims: ['age_18_plus'] }],
      [
        'clients.update',
        { name: 'Shop', claims: ['age_18_plus'] },
        { name: 'Wine', claims: ['age_18_plus', 'country'] },
      ],
      [
        'clients.update',
        { purpose: null, tokenRequestsPerMinute: null },
        { purpose: 'to sell wine', tokenRequestsPerMinute: 60 },
      ],
      [
        'clients.update',
        { purpose: 'to sell wine', tokenRequestsPerMinute: 60 },
        { purpose: null, tokenRequestsPerMinute: null },
      ],
      ['clients.rotateSecret', { secrets: 1, last4: old }, { secrets: 2, keepOldSeconds: 60, last4: fresh }],
      ['clients.disable', { status: 'active' }, { status: 'disabled' }],
      ['clients.enable', { status: 'disabled' }, { status: 'active' }],
    ]);
    expect(await changesOf(integrationId)).toEqual([
      [
        'integrations.create',
        null,
        { partnerId, clientId, mode: 'test', shops, status: 'active', secretVersion: 1 },
      ],
      ['integrations.rotateSecret', { secretVersion: 1, last4 }, { secretVersion: 2 }],
      ['integrations.disable', { status: 'active' }, { status: 'disabled' }],
    ]);
  });

  it('records the values before and after a change of an enrollment, an operator and a user', async () => {
    const { admin } = server;
    const partner = await createPartner(server);
    await completeSession(server, partner);
    const [enrollment] = await admin.enrollments.list.query({ partnerId: partner.partnerId });
    const { id: enrollmentId = '' } = enrollment ?? {};
    const { id: userId } = await admin.users.show.query({ user: enrollmentId });
    await admin.enrollments.block.mutate({ enrollmentId, reason: 'a duplicate' });
    await admin.enrollments.unblock.mutate({ enrollmentId });
    const { id: operatorId } = await admin.operators.create.mutate({ name: 'Kim', role: 'ops' });
    await admin.operators.revoke.mutate({ operatorId });
    await admin.users.erase.mutate({ userId });
    expect(await changesOf(enrollmentId)).toEqual([
      ['enrollments.block', { status: 'active' }, { status: 'blocked', blockReason: 'a duplicate' }],
      ['enrollments.unblock', { status: 'blocked' }, { status: 'active' }],
    ]);
    expect(await changesOf(operatorId)).toEqual([
      ['operators.create', null, { name: 'Kim', role: 'ops', status: 'active' }],
      ['operators.revoke', { status: 'active' }, { status: 'revoked' }],
    ]);
    expect(await changesOf(userId)).toEqual([['users.erase', null, null]]);
  });
});

describe('users.erase', () => {
  it('deletes the user and unlinks the sessions in a sweep 61 s after the call, but not in one after 59 s', async () => {
    const partner = await createPartner(server);
    await completeSession(server, partner, 'teen');
    const [enrollment] = await server.admin.enrollments.list.query({ partnerId: partner.partnerId });
    const { id: userId } = await server.admin.users.show.query({ user: enrollment?.id ?? '' });
    await server.admin.users.erase.mutate({ userId });
    const isLinked = async () =>
      (await server.db.collection('sessions').countDocuments({ userId })) +
      (await server.db.collection<{ _id: string }>('users').countDocuments({ _id: userId }));
    clock.advance(59_000);
    await server.sweep();
    expect(await isLinked()).toBe(2);
    clock.advance(2_000);
    await server.sweep();
    expect(await isLinked()).toBe(0);
  });
});
