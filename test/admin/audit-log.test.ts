import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuditLog } from '../../server/admin/audit-log.ts';
import { createAuditStore } from '../../server/admin/audit-store.ts';
import { createPartnerStore } from '../../server/partners/partner-store.ts';
import { createLogger } from '../../server/platform/logging.ts';
import { type AdminServer, refusal, startAdminServer } from './admin-server.ts';

let server: AdminServer;
beforeAll(async () => {
  server = await startAdminServer();
});
afterAll(() => server.close());

const entriesOf = (target: string) => server.api.auditLog.list.query({ target });

describe('the audit log', () => {
  it('holds every change with what it was before and after, newest first', async () => {
    const { id: partnerId } = await server.api.partners.create.mutate({ name: 'Acme' });
    await server.api.partners.activate.mutate({ partnerId });
    await server.api.partners.suspend.mutate({ partnerId });
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
    const record = await server.database.db
      .collection<{ _id: string }>('partners')
      .findOne({ _id: partnerId });
    expect(record).toMatchObject({ audit: [] });
    expect(record).not.toHaveProperty('auditAt');
  });

  it('notes a call that changed nothing, and none that was refused', async () => {
    const { id: partnerId } = await server.api.partners.create.mutate({ name: 'Acme' });
    expect(await refusal(server.api.partners.suspend.mutate({ partnerId }))).toBe('conflict');
    await server.api.partners.activate.mutate({ partnerId });
    await server.api.partners.activate.mutate({ partnerId });
    const [repeated, , created] = await entriesOf(partnerId);
    expect(repeated).toMatchObject({
      action: 'partners.activate',
      before: null,
      after: null,
      input: { partnerId },
    });
    expect(created).toMatchObject({ action: 'partners.create' });
  });

  it('never holds a secret', async () => {
    const { id: partnerId } = await server.api.partners.create.mutate({ name: 'Acme' });
    const key = await server.api.keys.create.mutate({ partnerId, mode: 'test' });
    const rotated = await server.api.keys.rotate.mutate({ keyId: key.id });
    const hook = await server.api.webhooks.set.mutate({ keyId: key.id, url: 'https://example.com/hook' });
    const log = JSON.stringify(await server.database.db.collection('auditLog').find().toArray());
    for (const secret of [key.apiKey, rotated.apiKey, hook.signingSecret]) expect(log).not.toContain(secret);
    expect(log).toContain(rotated.last4);
  });

  it('filters by operator, action and time, and pages', async () => {
    const { token, id: operatorId } = await server.api.operators.create.mutate({
      name: 'Robin',
      role: 'support',
    });
    const since = new Date(Date.now() - 1).toISOString();
    for (const name of ['a', 'b', 'c']) await server.apiAs(token).partners.create.mutate({ name });
    const all = await server.api.auditLog.list.query({ actor: operatorId, action: 'partners.create', since });
    expect(all.map(({ after }) => after?.['name'])).toEqual(['c', 'b', 'a']);
    const next = await server.api.auditLog.list.query({ actor: 'Robin', limit: 1, after: all[0]?.id });
    expect(next).toEqual([all[1]]);
  });

  it('gets what a crash left in the documents by the sweep, once', async () => {
    const store = createPartnerStore(server.database.db);
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
    const auditLog = createAuditLog({
      store: createAuditStore(server.database.db),
      clock: server.clock,
      log: createLogger('silent'),
    });
    await Promise.all([auditLog.sweep(), auditLog.sweep()]);
    await auditLog.sweep();
    expect(await entriesOf('ptr_crashed')).toHaveLength(1);
  });

  it('holds one entry of a call, though a sweep is under way', async () => {
    const store = createAuditStore(server.database.db);
    const partners = createPartnerStore(server.database.db);
    const auditLog = createAuditLog({ store, clock: server.clock, log: createLogger('silent') });
    const calls = Array.from({ length: 20 }, async (_, n) => {
      const sweep = auditLog.sweep();
      await new Promise((resolve) => setTimeout(resolve, n % 7));
      const [id, requestId, createdAt] = [`ptr_during_${n}`, `req_during_${n}`, new Date()];
      const actor = { operatorId: 'opr_x', operatorName: 'X', requestId, address: '::1' };
      const call = { ...actor, action: 'partners.create' };
      const entry = { ...call, id: `${requestId}:${id}`, at: createdAt, target: id };
      await partners.insert({ _id: id, name: 'During', status: 'pending', createdAt }, entry);
      await auditLog.mutated(call, { name: 'During' });
      await sweep;
      return (await store.ofRequest(requestId)).length;
    });
    expect(await Promise.all(calls)).toEqual(Array(20).fill(1));
  });

  it('gets a call that could not be noted at once by the sweep, once', async () => {
    const store = createAuditStore(server.database.db);
    let away = true;
    const auditLog = createAuditLog({
      store: {
        ...store,
        add: async (entries) => {
          if (away) throw new Error('away for a moment');
          return store.add(entries);
        },
      },
      clock: server.clock,
      log: createLogger('silent'),
    });
    const actor = { operatorId: 'opr_x', operatorName: 'X', requestId: 'req_y', address: '::1' };
    await auditLog.mutated({ ...actor, action: 'deliveries.cancel' }, { deliveryId: 'dlv_noted' });
    await expect(auditLog.sweep()).rejects.toThrow('away for a moment');
    away = false;
    await Promise.all([auditLog.sweep(), auditLog.sweep()]);
    expect(await entriesOf('dlv_noted')).toMatchObject([{ action: 'deliveries.cancel', requestId: 'req_y' }]);
  });
});
