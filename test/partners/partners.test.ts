import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isWellFormedSecret } from '../../server/platform/ids.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const activePartner = async () => {
  const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
  return server.admin.partners.activate.mutate({ partnerId: id });
};
const newKey = async (mode: 'test' | 'live' = 'test') =>
  server.admin.keys.create.mutate({ partnerId: (await activePartner()).id, mode });

describe('partners of the service', () => {
  it('are pending until an operator activates them, and can be suspended and activated again', async () => {
    const created = await server.admin.partners.create.mutate({ name: '  Acme Ltd ' });
    expect(created).toMatchObject({ name: 'Acme Ltd', status: 'pending' });
    expect(created.id).toMatch(/^ptr_[0-9A-Za-z]{22}$/);
    for (const mode of ['test', 'live'] as const) {
      expect(await server.admin.wallets.show.query({ partnerId: created.id, mode })).toMatchObject({
        balance: 0,
      });
    }
    const partnerId = created.id;
    expect(await refusal(server.admin.partners.suspend.mutate({ partnerId }))).toBe('conflict');
    for (const [step, status] of [
      ['activate', 'active'],
      ['activate', 'active'],
      ['suspend', 'suspended'],
      ['activate', 'active'],
    ] as const) {
      expect(await server.admin.partners[step].mutate({ partnerId })).toMatchObject({ status });
    }
    expect(await server.admin.partners.show.query({ partnerId })).toEqual({ ...created, status: 'active' });
  });

  it('are closed with a reason; support activates a closed one again, ops does not', async () => {
    const { id: partnerId } = await activePartner();
    const { partners, auditLog } = server.admin;
    const closed = await partners.close.mutate({ partnerId, reason: 'end of contract' });
    expect(closed).toMatchObject({ status: 'closed', closedAt: expect.any(String) });
    expect(await partners.close.mutate({ partnerId, reason: 'again' })).toEqual(closed);
    expect(await partners.suspend.mutate({ partnerId })).toEqual(closed);
    const entries = await auditLog.list.query({ target: partnerId, action: 'partners.close' });
    expect(entries.at(-1)).toMatchObject({
      before: { status: 'active' },
      after: { status: 'closed', closedAt: closed.closedAt, reason: 'end of contract' },
    });
    const { token } = await server.admin.operators.create.mutate({ name: 'Kim', role: 'ops' });
    const ops = server.as(token);
    const reason = 'INC-12';
    expect(await refusal(ops.partners.activate.mutate({ partnerId, reason }))).toBe('not_permitted');
    const opened = await partners.activate.mutate({ partnerId });
    expect(opened).toMatchObject({ status: 'active', closedAt: null });
  });

  it('get a ceiling for their spend caps from an operator, which stays until it is changed or removed', async () => {
    const { id: partnerId } = await activePartner();
    const set = (wanted: { ceilingPerMinute?: number | null; ceilingPerHour?: number | null }) =>
      server.admin.limits.set.mutate({ partnerId, mode: 'live', ...wanted });
    const ofHour = { ceilingPerMinute: null, ceilingPerHour: 900 };
    expect(await set({ ceilingPerMinute: 50 })).toMatchObject({ perMinute: 50, ceilingPerMinute: 50 });
    expect(await set({ ceilingPerHour: 900 })).toMatchObject({ ceilingPerMinute: 50, ceilingPerHour: 900 });
    expect(await set({ ceilingPerMinute: null })).toMatchObject(ofHour);
    expect(await server.admin.limits.show.query({ partnerId, mode: 'live' })).toMatchObject(ofHour);
  });

  it('can be closed before they were activated, and after they were suspended', async () => {
    const { partners } = server.admin;
    const { id: pending } = await partners.create.mutate({ name: 'Acme' });
    const { id: suspended } = await activePartner();
    await partners.suspend.mutate({ partnerId: suspended });
    for (const partnerId of [pending, suspended]) {
      const closed = await partners.close.mutate({ partnerId, reason: 'end of contract' });
      expect(closed).toMatchObject({ status: 'closed', closedAt: expect.any(String) });
    }
  });

  it('are listed, counted and found by their status, a closed one not as suspended', async () => {
    const { partners } = server.admin;
    const named = async (): Promise<string> => {
      const { id: partnerId } = await partners.create.mutate({ name: 'Roxy' });
      await partners.activate.mutate({ partnerId });
      return partnerId;
    };
    const [closed, suspended] = [await named(), await named()];
    await partners.suspend.mutate({ partnerId: suspended });
    await partners.close.mutate({ partnerId: closed, reason: 'end of contract' });
    for (const [status, id, other] of [
      ['closed', closed, suspended],
      ['suspended', suspended, closed],
    ] as const) {
      const listed = await partners.list.query({ status, limit: 500 });
      expect(listed).toContainEqual(expect.objectContaining({ id, status }));
      expect(listed.map((partner) => partner.id)).not.toContain(other);
      expect(await partners.count.query({ status })).toMatchObject({ total: listed.length });
      expect(await partners.search.query({ text: 'roxy', status })).toMatchObject([{ id, status }]);
    }
    expect(await refusal(partners.list.query({ status: 'gone' as never }))).toBe('bad_input');
  });

  it('have a name, contacts, a VAT id and an address, which support changes one by one', async () => {
    const { id: partnerId } = await activePartner();
    const { partners, auditLog } = server.admin;
    const change = (details: object) => partners.update.mutate({ partnerId, ...details });
    const contacts = ['Dev@acme.example', 'pay@acme.example', 'dev@acme.example'];
    await change({ contacts, vatId: ' de 123.456-789', address: '1 High Street, Bath' });
    const details = {
      ...{ contacts: ['dev@acme.example', 'pay@acme.example'], vatId: 'DE123456789' },
      address: '1 High Street, Bath',
    };
    const renamed = await change({ name: 'Acme Europe' });
    expect(renamed).toMatchObject({ ...details, name: 'Acme Europe', status: 'active' });
    expect(await change({ vatId: null, address: null, contacts: [] })).toMatchObject({
      ...{ vatId: null, address: null, contacts: [], name: 'Acme Europe' },
    });
    // A repeated change changes nothing.
    await change({ name: 'Acme Europe' });
    const entries = await auditLog.list.query({ target: partnerId, action: 'partners.update' });
    expect(entries.map(({ before, after }) => [before, after])).toEqual([
      [null, null],
      [
        { contacts: 2, vatId: 'DE123456789', address: '1 High Street, Bath' },
        { contacts: 0, vatId: null, address: null },
      ],
      [{ name: 'Acme' }, { name: 'Acme Europe' }],
      [
        { contacts: 0, vatId: null, address: null },
        { contacts: 2, vatId: 'DE123456789', address: '1 High Street, Bath' },
      ],
    ]);
    for (const wrong of [{ contacts: ['kim'] }, { vatId: '12' }, { address: ' ' }, { name: '' }])
      expect(await refusal(change(wrong))).toBe('bad_input');
    expect(await refusal(partners.update.mutate({ partnerId: 'ptr_none', name: 'x' }))).toBe('not_found');
  });

  it('are found by the e-mail address of a contact or of a member', async () => {
    const { id: partnerId } = await activePartner();
    const email = 'robin@acme.example';
    await server.admin.partners.update.mutate({ partnerId, contacts: [email] });
    await server.db
      .collection<{ _id: string }>('members')
      .insertOne({ _id: 'mem_1', partnerId, email: 'sam@acme.example' } as never);
    const find = async (text: string) => {
      const found = await server.admin.partners.search.query({ text });
      return found.map((partner) => [partner.id, partner.found]);
    };
    expect(await find('Robin@acme.example')).toEqual([[partnerId, [`contact ${email}`]]]);
    expect(await find('sam@acme.example')).toEqual([[partnerId, ['member mem_1']]]);
    expect(await find('kim@acme.example')).toEqual([]);
  });

  it('are listed in pages, the newest first, and by status', async () => {
    const ids: string[] = [];
    for (const name of ['one', 'two', 'three'])
      ids.unshift((await server.admin.partners.create.mutate({ name })).id);
    const [first, ...rest] = await server.admin.partners.list.query({ limit: 3 });
    expect([first, ...rest].map((partner) => partner?.id)).toEqual(ids);
    const next = await server.admin.partners.list.query({ limit: 2, after: first?.id });
    expect(next.map(({ id }) => id)).toEqual(ids.slice(1));
    const active = await server.admin.partners.list.query({ status: 'active' });
    expect(active.every(({ status }) => status === 'active')).toBe(true);
    expect(await refusal(server.admin.partners.list.query({ after: 'ptr_none' }))).toBe('not_found');
  });

  it('cannot have an empty name or control characters (bad_input); an unknown id is not_found', async () => {
    expect(await refusal(server.admin.partners.create.mutate({ name: '  ' }))).toBe('bad_input');
    expect(await refusal(server.admin.partners.create.mutate({ name: 'a\u0007b' }))).toBe('bad_input');
    expect(await refusal(server.admin.partners.show.query({ partnerId: 'ptr_none' }))).toBe('not_found');
    await expect(server.admin.partners.show.query({ partnerId: 'cli_1' })).rejects.toThrow(
      'partnerId: cli_1 is a client; this needs ptr_…',
    );
  });

  it('store each of three simultaneous changes of a webhook URL, with the secret versions 1, 2 and 3', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Busy' });
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId });
    const url = 'https://example.com/hook';
    const answers = await Promise.all([1, 2, 3].map(() => server.admin.webhooks.set.mutate({ keyId, url })));
    expect(answers.map(({ secretVersion }) => secretVersion).sort()).toEqual([1, 2, 3]);
  });
});

describe('API keys', () => {
  it('are found by their secret, which is neither stored nor in keys.show', async () => {
    const created = await newKey();
    expect(isWellFormedSecret('testKey', created.apiKey)).toBe(true);
    expect(created.apiKey.endsWith(created.last4)).toBe(true);
    expect(await server.services.partners.directory.apiKeyBySecret(created.apiKey)).toMatchObject({
      _id: created.id,
    });
    const { apiKey: _secret, ...shown } = created;
    expect(await server.admin.keys.show.query({ keyId: created.id })).toEqual(shown);
    const stored = await server.db.collection('apiKeys').findOne({ partnerId: created.partnerId });
    expect(JSON.stringify(stored)).not.toContain(created.apiKey);
  });

  it('keep their id when they are rotated, and are no longer found by the old secret', async () => {
    const created = await newKey('live');
    const rotated = await server.admin.keys.rotate.mutate({ keyId: created.id });
    expect(rotated).toMatchObject({ id: created.id, mode: 'live', status: 'active' });
    expect(isWellFormedSecret('liveKey', rotated.apiKey)).toBe(true);
    expect(await server.services.partners.directory.apiKeyBySecret(created.apiKey)).toBeUndefined();
    expect(await server.services.partners.directory.apiKeyBySecret(rotated.apiKey)).toMatchObject({
      _id: created.id,
    });
  });

  it('can neither be rotated nor get a webhook URL once they are revoked (conflict), and are then listed as revoked', async () => {
    const { id: keyId, partnerId } = await newKey();
    expect(await server.admin.keys.revoke.mutate({ keyId })).toMatchObject({ status: 'revoked' });
    expect(await server.services.partners.directory.apiKey(keyId)).toMatchObject({ status: 'revoked' });
    expect(await refusal(server.admin.keys.rotate.mutate({ keyId }))).toBe('conflict');
    expect(await refusal(server.admin.webhooks.set.mutate({ keyId, url: 'https://example.com/' }))).toBe(
      'conflict',
    );
    expect(await server.admin.keys.list.query({ partnerId, status: 'revoked' })).toHaveLength(1);
    expect(await server.admin.keys.list.query({ partnerId, status: 'active' })).toHaveLength(0);
  });

  it('cannot be created or listed for an unknown partner (not_found)', async () => {
    expect(await refusal(server.admin.keys.create.mutate({ partnerId: 'ptr_none', mode: 'test' }))).toBe(
      'not_found',
    );
    expect(await refusal(server.admin.keys.list.query({ partnerId: 'ptr_none' }))).toBe('not_found');
  });

  it('are not found by a secret with a wrong checksum', async () => {
    const { apiKey } = await newKey();
    const typo = `${apiKey.slice(0, -1)}${apiKey.endsWith('0') ? '1' : '0'}`;
    expect(await server.services.partners.directory.apiKeyBySecret(typo)).toBeUndefined();
  });
});

describe('webhook endpoints', () => {
  it('get a new signing secret and a higher version with every saved URL', async () => {
    const { id: keyId } = await newKey();
    const first = await server.admin.webhooks.set.mutate({ keyId, url: 'https://example.com/hook' });
    expect(first).toMatchObject({ url: 'https://example.com/hook', secretVersion: 1 });
    expect(isWellFormedSecret('webhookSecret', first.signingSecret)).toBe(true);
    const again = await server.admin.webhooks.set.mutate({ keyId, url: 'https://example.com/hook' });
    expect(again.signingSecret).not.toBe(first.signingSecret);
    const rotated = await server.admin.webhooks.rotateSecret.mutate({ keyId });
    expect(rotated).toMatchObject({ url: 'https://example.com/hook', secretVersion: 3 });
    expect(await server.admin.webhooks.unset.mutate({ keyId })).toMatchObject({
      url: null,
      secretVersion: 3,
    });
    expect(await refusal(server.admin.webhooks.rotateSecret.mutate({ keyId }))).toBe('conflict');
    const later = await server.admin.webhooks.set.mutate({ keyId, url: 'https://example.com/other' });
    expect(later.secretVersion).toBe(4);
    expect(await server.admin.webhooks.show.query({ keyId })).toMatchObject({
      url: 'https://example.com/other',
    });
  });

  it('stay unchanged if the new URL is http for a live key, and the error says that https is needed', async () => {
    const { id: keyId } = await newKey('live');
    const set = server.admin.webhooks.set.mutate({ keyId, url: 'http://localhost/hook' });
    await expect(set).rejects.toThrow('a live key needs an https:// URL');
    expect(await server.admin.webhooks.show.query({ keyId })).toMatchObject({ url: null, secretVersion: 0 });
  });
});
