import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuditLog } from '../../server/operations/audit/audit-log.ts';
import { auditSources, createAuditStore } from '../../server/operations/audit/audit-store.ts';
import { createPartnerStore } from '../../server/partners/partner-store.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const done = { outcome: 'done', repeated: false } as const;
const partnerRule = { target: null, record: 'partners' };
const deliveryRule = { target: 'deliveryId', record: 'none' };
const entriesOf = (target: string) => server.admin.auditLog.list.query({ target });

/** Makes an audit log that cannot add entries until `restore` is called. */
function logWithoutDatabase() {
  const store = createAuditStore(server.db);
  let away = true;
  const add: typeof store.add = async (entries) => {
    if (away) throw new Error('away for a moment');
    return store.add(entries);
  };
  const auditLog = createAuditLog({ ...store, add }, { now: Date.now }, createLogger('silent'));
  const restore = () => {
    away = false;
  };
  return { auditLog, restore };
}

describe('the audit log', () => {
  it('records each change with operator, request, and the values before and after', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    await server.admin.partners.activate.mutate({ partnerId });
    await server.admin.partners.suspend.mutate({ partnerId });
    const [suspended, activated, created] = await entriesOf(partnerId);
    expect(created).toMatchObject({
      action: 'partners.create',
      before: null,
      after: { name: 'Acme', status: 'pending' },
    });
    expect(activated).toMatchObject({ before: { status: 'pending' }, after: { status: 'active' } });
    expect(suspended).toMatchObject({
      action: 'partners.suspend',
      operatorId: 'opr_first',
      target: partnerId,
      before: { status: 'active' },
      after: { status: 'suspended' },
      requestId: expect.stringMatching(/^req_/),
      address: '127.0.0.1',
    });
    const record = await server.db.collection<{ _id: string }>('partners').findOne({ _id: partnerId });
    expect(record).toMatchObject({ audit: [] });
    expect(record).not.toHaveProperty('auditAt');
  });

  it('records a repeated activation as unchanged, and the suspension of a pending partner as refused with conflict', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    expect(await refusal(server.admin.partners.suspend.mutate({ partnerId }))).toBe('conflict');
    await server.admin.partners.activate.mutate({ partnerId });
    await server.admin.partners.activate.mutate({ partnerId });
    const unchanged = { before: null, after: null, input: { partnerId } };
    expect(await entriesOf(partnerId)).toMatchObject([
      { action: 'partners.activate', outcome: 'unchanged', error: null, ...unchanged },
      { action: 'partners.activate', outcome: 'changed', error: null },
      { action: 'partners.suspend', outcome: 'refused', error: 'conflict', ...unchanged },
      { action: 'partners.create', outcome: 'changed', error: null },
    ]);
  });

  it('records a call that the role of the operator does not permit, but no call with malformed input', async () => {
    const { token, id: operatorId } = await server.admin.operators.create.mutate({
      name: 'Pat',
      role: 'ops',
    });
    const ops = server.as(token);
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const wallet = { partnerId, mode: 'live' as const };
    const funding = { ...wallet, amount: 5_000, reference: 'INV-1' };
    expect(await refusal(ops.wallets.fund.mutate(funding))).toBe('not_permitted');
    expect(await refusal(ops.limits.set.mutate({ ...wallet, perMinute: -1 }))).toBe('bad_input');
    expect(await server.admin.auditLog.list.query({ actor: operatorId })).toMatchObject([
      { action: 'wallets.fund', outcome: 'refused', error: 'not_permitted', target: `${partnerId}:live` },
    ]);
  });

  it('marks a repeated funding as unchanged, marks one with another amount as refused, and lists both under the partner', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const wallet = { partnerId, mode: 'live' as const };
    const fund = (amount: number) =>
      server.admin.wallets.fund.mutate({ ...wallet, amount, reference: 'INV-1' });
    await fund(5_000);
    await fund(5_000);
    expect(await refusal(fund(6_000))).toBe('conflict');
    await server.admin.limits.set.mutate({ ...wallet, perMinute: 9 });
    const target = `${partnerId}:live`;
    const written = () => entriesOf(target);
    await expect.poll(async () => (await written()).length).toBe(4);
    const [limits, ...fundings] = await written();
    expect(limits).toMatchObject({ action: 'limits.set', outcome: 'changed', after: { perMinute: 9 } });
    expect(fundings.map(({ outcome, error }) => [outcome, error])).toEqual([
      ['refused', 'conflict'],
      ['unchanged', null],
      ['changed', null],
    ]);
    // The partner's id finds the partner's own entry and the entries of its wallet.
    expect(await entriesOf(partnerId)).toHaveLength(5);
  });

  it('lists a refused call about a key under its partner, and a resend of several deliveries under each of them', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    const other = await server.admin.partners.create.mutate({ name: 'Other' });
    for (const event of ['vae.resolved', 'enrollment.created'] as const)
      await server.admin.webhooks.trigger.mutate({ keyId, event });
    const ended = async () => (await server.admin.deliveries.list.query({ keyId, status: 'skipped' })).length;
    await expect.poll(ended, { timeout: within(20_000) }).toBe(2);
    const deliveryIds = (await server.admin.deliveries.list.query({ keyId })).map(({ id }) => id);
    await server.admin.webhooks.set.mutate({ keyId, url: 'https://partner.example/' });
    await server.admin.deliveries.resend.mutate({ deliveryIds });
    const { token } = await server.admin.operators.create.mutate({ name: 'Ash', role: 'ops' });
    expect(await refusal(server.as(token).keys.revoke.mutate({ keyId }))).toBe('not_permitted');

    const found = await server.admin.auditLog.list.query({ partnerId, limit: 20 });
    expect(found.map(({ action, target, outcome }) => [action, target, outcome])).toEqual([
      ['keys.revoke', keyId, 'refused'],
      ['deliveries.resend', null, 'changed'],
      ['webhooks.set', keyId, 'changed'],
      ['webhooks.trigger', keyId, 'changed'],
      ['webhooks.trigger', keyId, 'changed'],
      ['keys.create', keyId, 'changed'],
      ['partners.create', partnerId, 'changed'],
    ]);
    expect(await server.admin.auditLog.count.query({ partnerId })).toMatchObject({ total: found.length });
    expect(await server.admin.auditLog.list.query({ partnerId: other.id })).toHaveLength(1);
    for (const id of deliveryIds)
      expect(await entriesOf(id)).toMatchObject([{ action: 'deliveries.resend', input: { deliveryIds } }]);
  });

  it('records a bulk job once, with its filter and the number of deliveries, and records no dry run', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    await server.admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
    const skipped = async () =>
      (await server.admin.deliveries.list.query({ keyId, status: 'skipped' })).length;
    await expect.poll(skipped, { timeout: within(20_000) }).toBe(1);
    await server.admin.webhooks.set.mutate({ keyId, url: 'https://partner.example/' });
    // What the first job sends waits for the end of the pause, so the second job finds it.
    await server.admin.webhooks.pause.mutate({
      keyId,
      until: new Date(Date.now() + 3_600_000).toISOString(),
    });
    const filter = { keyId, since: new Date(0).toISOString(), status: 'skipped' as const };
    const wanted = { action: 'resend' as const, filter };
    const started = async () => server.admin.auditLog.list.query({ action: 'bulk.start' });
    await server.admin.bulk.start.mutate({ ...wanted, dryRun: true });
    expect(await started()).toEqual([]);
    const { job } = await server.admin.bulk.start.mutate(wanted);
    expect(await started()).toMatchObject([
      { target: job?.id, outcome: 'changed', after: { action: 'resend', count: 1, filter: { keyId } } },
    ]);
    for (const target of [keyId, job?.id ?? ''])
      expect((await entriesOf(target)).map(({ action }) => action)).toContain('bulk.start');
    const pending = async () =>
      (await server.admin.deliveries.list.query({ keyId, status: 'pending' })).length;
    await expect.poll(pending, { timeout: within(20_000) }).toBe(1);
    // While a worker finds that the endpoint is paused, the delivery is in flight, and a job has nothing to cancel.
    let ofPartner: string | undefined;
    const cancel = async () => {
      const cancelling = { action: 'cancel' as const, filter: { partnerId } };
      ofPartner ??= (await server.admin.bulk.start.mutate(cancelling)).job?.id;
      return ofPartner;
    };
    await expect.poll(cancel).toBeDefined();
    expect((await entriesOf(partnerId)).map(({ target }) => target)).toContain(ofPartner);
  });

  it('finds entries by an action, a command, the beginning of actions, and several of them', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    await server.admin.partners.activate.mutate({ partnerId });
    const actionsOf = async (action: string | string[]) =>
      (await server.admin.auditLog.list.query({ target: partnerId, action })).map((entry) => entry.action);
    const both = ['partners.activate', 'partners.create'];
    for (const one of ['partners.activate', 'partners activate', ' partners  activate '])
      expect(await actionsOf(one)).toEqual(['partners.activate']);
    for (const all of ['partners', 'partners.', 'part', both]) expect(await actionsOf(all)).toEqual(both);
    expect(await actionsOf('clients rotate-secret')).toEqual([]);
  });

  it.each([
    ['partners.suspnd', 'partners.suspend'],
    ['clients rotate-secrt', 'clients.rotateSecret'],
    ['partner suspend', 'partners.suspend'],
    ['walets', 'wallets'],
  ])('refuses the unknown action %s, and names the nearest', async (action, nearest) => {
    const list = server.admin.auditLog.list.query({ action });
    await expect(list).rejects.toThrow(`did you mean ${nearest}?`);
    await expect(server.admin.auditLog.count.query({ action: [action] })).rejects.toThrow(nearest);
  });
  it('refuses an unknown action of a known topic, and names the actions of the topic', async () => {
    const list = server.admin.auditLog.list.query({ action: 'prices change' });
    await expect(list).rejects.toThrow('named prices change. prices has: prices.show, prices.set. Name a');
  });

  it.each([' ', '.', 'xyzzy', '__proto__'])('refuses the action "%s"', async (action) => {
    expect(await refusal(server.admin.auditLog.list.query({ action }))).toBe('bad_input');
  });

  it('contains no API key and no signing secret', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const key = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    const rotated = await server.admin.keys.rotate.mutate({ keyId: key.id });
    const hook = await server.admin.webhooks.set.mutate({ keyId: key.id, url: 'https://example.com/hook' });
    const log = JSON.stringify(await server.db.collection('auditLog').find().toArray());
    for (const secret of [key.apiKey, rotated.apiKey, hook.signingSecret]) expect(log).not.toContain(secret);
    expect(log).toContain(rotated.last4);
  });

  it('can be filtered by operator, action and time, in lists of several pages and in counts', async () => {
    const made = await server.admin.operators.create.mutate({ name: 'Robin', role: 'support' });
    // The server's clock, because a busy machine's clock may be ahead of it.
    const { token, id: operatorId, createdAt: since } = made;
    for (const name of ['a', 'b', 'c']) await server.as(token).partners.create.mutate({ name });
    const all = await server.admin.auditLog.list.query({
      actor: operatorId,
      action: 'partners.create',
      since,
    });
    expect(all.map(({ after }) => after?.['name'])).toEqual(['c', 'b', 'a']);
    const [newest] = all;
    const before = { actor: operatorId, since, until: newest?.at };
    expect((await server.admin.auditLog.list.query(before)).map(({ id }) => id)).not.toContain(newest?.id);
    const { total } = await server.admin.auditLog.count.query(before);
    expect(total).toBe(all.filter(({ at }) => at < (newest?.at ?? '')).length);
    const next = await server.admin.auditLog.list.query({ actor: 'Robin', limit: 1, after: all[0]?.id });
    expect(next).toEqual([all[1]]);
  });

  it('refuses an actor who is no operator, and lists nothing for one who has done nothing', async () => {
    await server.admin.operators.create.mutate({ name: 'Idle', role: 'support' });
    const { auditLog } = server.admin;
    for (const actor of ['Idel', 'opr_0000000000000000000000']) {
      const message = expect.objectContaining({ message: expect.stringContaining(`No operator ${actor}`) });
      await expect(auditLog.list.query({ actor })).rejects.toEqual(message);
      await expect(auditLog.count.query({ actor })).rejects.toEqual(message);
    }
    const nobody = ['Idle', 'mem_0000000000000000000000', 'SVC_ADMIN_TOKEN', 'opr_first'];
    for (const actor of nobody)
      expect(await auditLog.list.query({ actor, until: '2020-01-01T00:00:00.000Z' })).toEqual([]);
  });

  it('gets one entry from two simultaneous sweeps for a change that was stored without its entry', async () => {
    const store = createPartnerStore(server.db);
    const at = new Date();
    const actor = {
      operatorId: 'opr_x',
      operatorName: 'X',
      action: 'partners.create',
      requestId: 'req_x',
      address: '::1',
    };
    const entry = {
      ...actor,
      id: 'req_x:ptr_crashed',
      at,
      target: 'ptr_crashed',
      after: { name: 'Crashed' },
    };
    await store.insert({ _id: 'ptr_crashed', name: 'Crashed', status: 'pending', createdAt: at }, entry);
    expect(await entriesOf('ptr_crashed')).toEqual([]);
    const auditLog = createAuditLog(createAuditStore(server.db), { now: Date.now }, createLogger('silent'));
    await Promise.all([auditLog.sweep(), auditLog.sweep()]);
    await auditLog.sweep();
    expect(await entriesOf('ptr_crashed')).toHaveLength(1);
  });

  it('has the entries of more records than one read returns after one sweep', async () => {
    const store = createAuditStore(server.db);
    const at = new Date();
    const actor = { operatorId: 'opr_x', operatorName: 'X', requestId: 'req_many', address: '::1' };
    const partners = Array.from({ length: 101 }, (_, n) => {
      const id = `ptr_many_${n}`;
      const entry = { ...actor, action: 'partners.create', id: `req_many:${id}`, at, target: id };
      return { _id: id, name: 'Many', createdAt: at, revision: 1, audit: [entry], auditAt: at };
    });
    await server.db.collection<{ _id: string }>('partners').insertMany(partners);
    const copied = await store.drain(auditSources);
    expect(copied.filter((id) => id === 'req_many')).toHaveLength(101);
    expect(await store.ofRequest('req_many')).toHaveLength(101);
    expect(await store.drain(auditSources)).toEqual([]);
  });

  it.each([
    ['of one collection', ['clients']],
    ['of all collections', auditSources],
  ])(
    'has the entries %s after one sweep, the oldest first, even if one reply of the database cannot hold them',
    async (_which, sources) => {
      const store = createAuditStore(server.db);
      const requestId = `req_large_${sources.length}`;
      const actor = { operatorId: 'opr_x', operatorName: 'X', requestId, address: '::1' };
      // 100 clients with entries of 174 kB each are more than the 16 MB of a reply.
      const clients = Array.from({ length: 105 }, (_, n) => {
        const [id, at] = [`cli_large_${sources.length}_${n}`, new Date(2_000_000 - n)];
        const after = { redirectUris: Array(85).fill('x'.repeat(2_048)) };
        const entry = { ...actor, action: 'clients.update', id: `${requestId}:${id}`, at, target: id, after };
        return { _id: id, name: 'Large', createdAt: at, revision: 1, audit: [entry], auditAt: at };
      });
      await server.db.collection<{ _id: string }>('clients').insertMany(clients);
      expect(await store.drain(sources)).toEqual(Array(105).fill(requestId));
      const copied = await server.db
        .collection('auditLog')
        .find({ requestId }, { projection: { target: 1 }, sort: { $natural: 1 } })
        .toArray();
      expect(copied.map(({ target }) => target)).toEqual(clients.map(({ _id }) => _id).toReversed());
      expect(await store.drain(sources)).toEqual([]);
    },
  );

  it('has one entry for a change, even if the call and a sweep copy the entry simultaneously', async () => {
    const store = createAuditStore(server.db);
    const partners = createPartnerStore(server.db);
    const auditLog = createAuditLog(store, { now: Date.now }, createLogger('silent'));
    const calls = Array.from({ length: 20 }, async (_, n) => {
      const sweep = auditLog.sweep();
      await new Promise((resolve) => setTimeout(resolve, n % 7));
      const [id, requestId, createdAt] = [`ptr_during_${n}`, `req_during_${n}`, new Date()];
      const actor = { operatorId: 'opr_x', operatorName: 'X', requestId, address: '::1' };
      const call = { ...actor, action: 'partners.create' };
      const entry = { ...call, id: `${requestId}:${id}`, at: createdAt, target: id };
      await partners.insert({ _id: id, name: 'During', status: 'pending', createdAt }, entry);
      await auditLog.recordCall(call, { name: 'During' }, done, partnerRule);
      await sweep;
      return (await store.ofRequest(requestId)).length;
    });
    expect(await Promise.all(calls)).toEqual(Array(20).fill(1));
  });

  it('gets one entry from the sweep for a call whose entry could not be written during the call', async () => {
    const { auditLog, restore } = logWithoutDatabase();
    const actor = { operatorId: 'opr_x', operatorName: 'X', requestId: 'req_y', address: '::1' };
    await auditLog.recordCall(
      { ...actor, action: 'deliveries.cancel' },
      { deliveryId: 'dlv_noted' },
      done,
      deliveryRule,
    );
    await expect(auditLog.sweep()).rejects.toThrow('away for a moment');
    restore();
    await Promise.all([auditLog.sweep(), auditLog.sweep()]);
    expect(await entriesOf('dlv_noted')).toMatchObject([{ action: 'deliveries.cancel', requestId: 'req_y' }]);
  });

  it('gets the entry of a call, if it could not be written, after the next change of a partner', async () => {
    const { auditLog, restore } = logWithoutDatabase();
    const actor = { operatorId: 'opr_x', operatorName: 'X', requestId: 'req_z', address: '::1' };
    await auditLog.recordCall(
      { ...actor, action: 'deliveries.cancel' },
      { deliveryId: 'dlv_next' },
      done,
      deliveryRule,
    );
    restore();
    const call = { ...actor, action: 'partners.create', requestId: 'req_next' };
    const at = new Date();
    const entry = { ...call, id: 'req_next:ptr_next', at, target: 'ptr_next' };
    const partners = createPartnerStore(server.db);
    await partners.insert({ _id: 'ptr_next', name: 'Next', status: 'pending', createdAt: at }, entry);
    await auditLog.recordCall(call, { name: 'Next' }, done, partnerRule);
    expect(await entriesOf('dlv_next')).toMatchObject([{ requestId: 'req_z' }]);
    expect(await entriesOf('ptr_next')).toMatchObject([{ requestId: 'req_next' }]);
  });
});
