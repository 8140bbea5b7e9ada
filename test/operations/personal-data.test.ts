import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner, verifyUser } from '../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let partner: TestPartner;
const operators = {} as Record<'support' | 'ops', { admin: TestServer['admin']; id: string }>;
/** The records of one user. */
const known = { sub: '', userId: '', enrollmentId: '', sessionId: '', deliveryId: '' };
const events = new Map<string, string>();

beforeAll(async () => {
  server = await startTestServer();
  for (const role of ['support', 'ops'] as const) {
    const { token, id } = await server.admin.operators.create.mutate({ name: role, role });
    operators[role] = { admin: server.as(token), id };
  }
  partner = await createPartner(server);
  const { partnerId } = partner;
  // In the second session, the user is a returning user.
  for (const _session of [1, 2])
    await exchangeCode(server, partner, await completeSession(server, partner, 'adult'));
  await verifyUser(server, partner, 'rejected');
  await server.sweep();
  const published = await server.admin.events.list.query({ partnerId });
  for (const { id, event } of published) events.set(event, id);
  expect(events.size).toBe(4);
  const [resolved] = await server.admin.events.list.query({ partnerId, event: 'vae.resolved' });
  known.sub = resolved?.sub ?? '';
  known.deliveryId = resolved?.deliveryIds[0] ?? '';
  const [found] = await server.admin.users.find.query({ of: known.sub });
  known.userId = found?.userId ?? '';
  known.enrollmentId = found?.id ?? '';
  known.sessionId = found?.firstSession ?? '';
});
afterAll(() => server.stop());

type Api = TestServer['admin'];
const eventId = (name: string) => events.get(name) ?? '';
/** Returns the answer of a receiver that repeats personal data of its request. */
const echo = () => `cannot handle {"user_id":"${known.sub}","claims":{"age_18_plus":true}}`;

/** The queries whose results contain a user's personal data for at least one role. */
const queries: Record<string, (api: Api) => Promise<unknown>> = {
  'events.show': (api) => api.events.show.query({ eventId: eventId('vae.resolved') }),
  'events.list': (api) => api.events.list.query({ partnerId: partner.partnerId }),
  'events.why': (api) => api.events.why.query({ eventId: eventId('vae.resolved') }),
  'deliveries.show': (api) => api.deliveries.show.query({ deliveryId: known.deliveryId }),
  'deliveries.list': (api) => api.deliveries.list.query({ partnerId: partner.partnerId }),
  'enrollments.show': (api) => api.enrollments.show.query({ enrollmentId: known.enrollmentId }),
  'enrollments.list': (api) => api.enrollments.list.query({ partnerId: partner.partnerId }),
  'sessions.show': (api) => api.sessions.show.query({ sessionId: known.sessionId }),
  'sessions.list': (api) => api.sessions.list.query({ partnerId: partner.partnerId }),
};

describe('an operator of the role ops', () => {
  beforeAll(async () => {
    const attempt = {
      attempt: 1,
      trigger: 'event',
      dueAt: new Date(),
      at: new Date(),
      status: 500,
      error: 'http',
    };
    await server.db
      .collection('deliveries')
      .updateMany({}, { $set: { attempts: [{ ...attempt, answer: echo() }] } });
  });

  it.each(Object.keys(queries))(
    'gets neither claim values nor the subject of the user from %s, while support gets the subject',
    async (name) => {
      const shown = JSON.stringify(await queries[name]?.(operators.ops.admin));
      const whole = JSON.stringify(await queries[name]?.(operators.support.admin));
      expect(whole).toContain(known.sub);
      expect(shown).not.toContain(known.sub);
      for (const text of [shown, whole]) expect(text).toContain(partner.partnerId.slice(0, 4));
      expect(shown).not.toMatch(/age_18_plus\W{1,5}(true|false)/);
    },
  );

  it('gets all fields of an event, with `(masked)` as the value of each personal one', async () => {
    const shown = await queries['events.show']?.(operators.ops.admin);
    const whole = await queries['events.show']?.(server.admin);
    const [masked, body] = [shown, whole].map((event) => JSON.parse((event as { body: string }).body));
    expect(Object.keys(masked)).toEqual(Object.keys(body));
    expect(Object.keys(masked.claims)).toEqual(Object.keys(body.claims));
    expect(masked).toMatchObject({
      event: 'vae.resolved',
      user_id: '(masked)',
      resolved_at: body.resolved_at,
    });
    for (const value of Object.values(masked.claims)) expect(value).toBe('(masked)');
    expect(shown).toMatchObject({
      ...(whole as object),
      body: expect.any(String),
      sub: '(masked)',
      attempts: [{}],
    });
  });

  it('gets the text that a receiver answered, if it contains no personal data', async () => {
    const answer = 'no such table: orders';
    await server.db.collection('deliveries').updateMany({}, { $set: { 'attempts.0.answer': answer } });
    const shown = await operators.ops.admin.deliveries.show.query({ deliveryId: known.deliveryId });
    expect(shown.attempts[0]?.answer).toBe(answer);
  });

  it('causes no audit entry by queries whose personal data are masked for this role', async () => {
    for (const ask of Object.values(queries)) await ask(operators.ops.admin);
    expect(await server.admin.auditLog.list.query({ actor: operators.ops.id })).toEqual([]);
  });
});

/** Reads that show claims or the subject to support, each with the target of its audit entry. */
const reads: Record<string, { read: (api: Api, reason?: string) => Promise<unknown>; target: () => string }> =
  {
    'users.show': {
      read: (api, reason) => api.users.show.query({ user: known.sub, reason }),
      target: () => known.userId,
    },
    'users.find': {
      read: (api, reason) => api.users.find.query({ of: known.sub, reason }),
      target: () => known.userId,
    },
    'events.show': {
      read: (api, reason) => api.events.show.query({ eventId: eventId('vae.resolved'), reason }),
      target: () => eventId('vae.resolved'),
    },
    'enrollments.show': {
      read: (api, reason) => api.enrollments.show.query({ enrollmentId: known.enrollmentId, reason }),
      target: () => known.enrollmentId,
    },
    'enrollments.list': {
      read: (api, reason) =>
        api.enrollments.list.query({ partnerId: partner.partnerId, sub: known.sub, reason }),
      target: () => partner.partnerId,
    },
  };

const entriesOf = async (action: string) =>
  (await server.admin.auditLog.list.query({ action })).filter(({ outcome }) => outcome === 'read');

describe.each(Object.entries(reads))('%s', (action, { read, target }) => {
  it('causes an audit entry with the operator, the target and the request, and without the subject', async () => {
    await read(operators.support.admin);
    const [entry] = await entriesOf(action);
    expect(entry).toMatchObject({
      action,
      outcome: 'read',
      operatorId: operators.support.id,
      operatorName: 'support',
      operatorRole: 'support',
      target: target(),
      before: null,
      after: null,
      requestId: expect.stringMatching(/^req_/),
    });
    expect(JSON.stringify(entry)).not.toContain(known.sub);
  });

  describe('of a live user', () => {
    const setMode = async (mode: 'test' | 'live') => {
      for (const name of ['users', 'enrollments', 'events'])
        await server.db.collection(name).updateMany({}, { $set: { mode } });
    };
    beforeAll(() => setMode('live'));
    afterAll(() => setMode('test'));

    it('is refused with reason_required without a reason, and the audit entry contains the given reason', async () => {
      const before = (await entriesOf(action)).length;
      for (const api of [operators.support.admin, server.admin]) {
        expect(await refusal(read(api))).toBe('reason_required');
        for (const reason of ['', '   ', 'x'.repeat(201), 'a\u0007b'])
          expect(await refusal(read(api, reason))).toBe('bad_input');
      }
      expect(await entriesOf(action)).toHaveLength(before);
      await read(operators.support.admin, ' ticket 4711 ');
      expect((await entriesOf(action))[0]).toMatchObject({
        operatorId: operators.support.id,
        target: target(),
        input: { reason: 'ticket 4711', modes: ['live'] },
      });
    });
  });
});

it('events.show of a live event without personal data needs no reason and causes no audit entry', async () => {
  const before = (await entriesOf('events.show')).length;
  await server.db.collection('events').updateMany({}, { $set: { mode: 'live' } });
  await operators.support.admin.events.show.query({ eventId: eventId('verification.session.failed') });
  await server.db.collection('events').updateMany({}, { $set: { mode: 'test' } });
  expect(await entriesOf('events.show')).toHaveLength(before);
});

it('webhooks.relay for a test key writes an audit entry with the number of deliveries that name a user', async () => {
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'https://partner.example/hooks' });
  const since = new Date(Date.now() - 3_600_000).toISOString();
  const { deliveries } = await operators.support.admin.webhooks.relay.query({ keyId: partner.keyId, since });
  const ofPeople = deliveries.filter(({ body }) => body.includes('user_id')).length;
  expect(ofPeople).toBe(deliveries.length - 1);
  expect(await entriesOf('webhooks.relay')).toMatchObject([
    { target: partner.keyId, operatorId: operators.support.id, input: { deliveries: ofPeople } },
  ]);
});

it('auditLog.list shows support only its own reads of users, and shows ops the reads of all operators', async () => {
  await server.admin.users.show.query({ user: known.userId });
  const own = await operators.support.admin.auditLog.list.query({ action: 'users.show' });
  expect(own.length).toBeGreaterThan(0);
  expect(new Set(own.map(({ operatorId }) => operatorId))).toEqual(new Set([operators.support.id]));
  const all = await operators.ops.admin.auditLog.list.query({ action: 'users.show' });
  expect(all.length).toBeGreaterThan(own.length);
  expect(JSON.stringify(all)).not.toContain(known.sub);
});

it('requests.show shows support its own reads of users, and not those of other operators', async () => {
  await server.admin.users.show.query({ user: known.userId });
  await operators.support.admin.users.show.query({ user: known.userId });
  const requestOf = async (actor: string) => {
    const [read] = await server.admin.auditLog.list.query({ action: 'users.show', actor, limit: 1 });
    return { requestId: read?.requestId ?? '' };
  };
  const { requests } = operators.support.admin;
  const own = await requests.show.query(await requestOf(operators.support.id));
  expect(own.changes).toMatchObject([{ action: 'users.show', target: known.userId }]);
  const foreign = await requestOf('opr_first');
  expect(await refusal(requests.show.query(foreign))).toBe('not_found');
  expect((await operators.ops.admin.requests.show.query(foreign)).changes).toHaveLength(1);
});

it('auditLog.list finds reads of a user and of the enrollments by subject, user id or enrollment id', async () => {
  await operators.support.admin.users.show.query({ user: known.sub });
  await operators.support.admin.enrollments.show.query({ enrollmentId: known.enrollmentId });
  for (const user of [known.sub, known.userId, known.enrollmentId]) {
    const found = await server.admin.auditLog.list.query({ user, actor: operators.support.id });
    expect(new Set(found.map(({ target }) => target))).toEqual(new Set([known.userId, known.enrollmentId]));
    const { total } = await server.admin.auditLog.count.query({ user, actor: operators.support.id });
    expect(total).toBe(found.length);
  }
  const { auditLog } = operators.support.admin;
  const own = await auditLog.list.query({ user: known.sub });
  expect(new Set(own.map(({ operatorId }) => operatorId))).toEqual(new Set([operators.support.id]));
  expect((await auditLog.count.query({ user: known.sub })).total).toBe(own.length);
  expect(await refusal(server.admin.auditLog.list.query({ user: 'nobody' }))).toBe('not_found');
});

it('auditLog.list and auditLog.count answer not_permitted to a search by user from the role ops', async () => {
  const { auditLog } = operators.ops.admin;
  for (const user of [known.sub, known.userId, known.enrollmentId, 'nobody']) {
    expect(await refusal(auditLog.list.query({ user }))).toBe('not_permitted');
    expect(await refusal(auditLog.count.query({ user }))).toBe('not_permitted');
  }
  await expect(auditLog.list.query({ user: known.sub })).rejects.toThrow('support or an owner may do it');
});

it('a read of a user, an event or an enrollment throws if its audit entry cannot be written', async () => {
  const caller = server.services.admin.router.createCaller({
    operator: { id: 'opr_x', name: 'X', role: 'support' },
    requestId: 'req_x',
    address: '::1',
    recordRead: () => Promise.reject(new Error('the log is away')),
  });
  const { enrollmentId, sub } = known;
  for (const call of [
    () => caller.users.show({ user: sub }),
    () => caller.users.find({ of: sub }),
    () => caller.events.show({ eventId: eventId('vae.resolved') }),
    () => caller.enrollments.show({ enrollmentId }),
    () => caller.enrollments.list({ partnerId: partner.partnerId }),
  ])
    await expect(call()).rejects.toThrow('the log is away');
});
