import { callTRPCProcedure, type TRPCError } from '@trpc/server';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type AdminContext, query, router } from '../../server/platform/admin-api/procedures.ts';
import { ApiError } from '../../server/platform/errors.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';

type Answer = 'yes' | 'no' | 'test' | 'reason';

/**
 * The procedures that support and ops may call: `yes`, `no`, or only with the mode test or with a reason. Owners may call all.
 * A separate test below covers that support reads only its own entries of the audit log.
 */
const procedures: [support: Answer, ops: Answer, names: string][] = [
  [
    ...(['yes', 'yes'] as const),
    `auditLog.count auditLog.list bulk.cancel bulk.list bulk.show bulk.start clients.count clients.list
    clients.show deliveries.cancel deliveries.count deliveries.list deliveries.schedule
    deliveries.reschedule deliveries.resend deliveries.show enrollments.count enrollments.list
    enrollments.show events.count events.list events.show events.why integrations.count integrations.list
    integrations.show keys.count keys.list keys.show limits.show members.count members.list members.show
    operators.roles operators.show operators.whoami partners.check partners.count partners.list
    partners.search partners.show prices.show requests.count requests.list requests.refused requests.show
    revenue.show schema.shards secrets.find sessions.count sessions.list sessions.show sources.list
    sources.check status brands.list brands.show wallets.entry wallets.count wallets.list wallets.show
    wallets.signedStatement wallets.statement wallets.usage webhooks.health webhooks.pause webhooks.resume
    webhooks.show webhooks.verify warnings.list warnings.count`,
  ],
  [
    ...(['yes', 'no'] as const),
    `clients.create clients.enable clients.rotateSecret clients.update enrollments.block enrollments.unblock
    integrations.create integrations.disable integrations.update integrations.rotateSecret keys.create
    keys.revoke keys.rotate members.acts members.invite members.remove members.setRole members.setWishes
    members.wishes partners.close partners.create partners.suspend partners.update partners.removeLogo
    partners.setLogo users.holds users.removePasskey users.find users.show brands.approve brands.refuse
    wallets.refill webhooks.relay webhooks.setNotices webhooks.prepareSecret webhooks.rotateSecret
    webhooks.switchSecret webhooks.set webhooks.changeUrl webhooks.test webhooks.trigger webhooks.unset
    warnings.settings warnings.set`,
  ],
  ['yes', 'reason', 'clients.disable partners.activate'],
  [
    ...(['no', 'yes'] as const),
    `jobs.cancel jobs.count jobs.list jobs.reschedule jobs.run jobs.show keyring.list limits.set schema.show
    wallets.audit /metrics /ops`,
  ],
  [
    ...(['no', 'no'] as const),
    `keyring.reseal keyring.rotate keyring.retire members.confirmInvitation members.refuseInvitation
    operators.create operators.count operators.list operators.revoke prices.set schema.finish users.erase
    users.hold users.release wallets.adjust wallets.refund wallets.repair`,
  ],
  ['test', 'no', 'wallets.fund'],
];
const table: Record<string, readonly [support: Answer, ops: Answer]> = Object.fromEntries(
  procedures.flatMap(([support, ops, names]) => names.split(/\s+/).map((name) => [name, [support, ops]])),
);

let server: TestServer;
const tokens = { support: '', ops: '', owner: adminToken };
type Role = keyof typeof tokens;
beforeAll(async () => {
  server = await startTestServer();
  for (const role of ['support', 'ops'] as const)
    tokens[role] = (await server.admin.operators.create.mutate({ name: 'Kim', role })).token;
});
afterAll(() => server.stop());

const typeOf = (path: string) =>
  (server.services.admin.router._def.procedures[path as never]['_def'] as { type: 'mutation' | 'query' })
    .type;

/** Makes a call, and returns whether it passes the permission check. The input never passes the later checks. */
async function isAllowed(role: Role, path: string, input: Record<string, unknown>): Promise<boolean> {
  const headers = { authorization: `Bearer ${tokens[role]}`, 'content-type': 'application/json' };
  if (path.startsWith('/')) return (await fetch(`${server.adminUrl}${path}`, { headers })).status === 200;
  const encoded = JSON.stringify(input);
  const url = `${server.adminUrl}/trpc/${path}`;
  const answer = await (typeOf(path) === 'mutation'
    ? fetch(url, { method: 'POST', headers, body: encoded })
    : fetch(`${url}?input=${encodeURIComponent(encoded)}`, { headers }));
  const body = (await answer.json()) as { error?: { data: { error: string } } };
  const code = body.error?.data.error ?? 'done';
  if (!['done', 'bad_input', 'not_permitted'].includes(code)) throw new Error(`${path} answers ${code}`);
  expect(answer.status).toBe({ done: 200, bad_input: 400, not_permitted: 403 }[code]);
  return code !== 'not_permitted';
}

/** Like `isAllowed`, but without HTTP: all procedures have one route, so each is called at the router. */
async function isAllowedInProcess(role: Role, path: string, input: Record<string, unknown>) {
  const operator = { id: 'opr_1', name: 'Kim', role };
  const context = { operator, requestId: 'req_1', address: '127.0.0.1' };
  const { router } = server.services.admin;
  try {
    await callTRPCProcedure({
      router,
      path,
      ctx: context,
      type: typeOf(path),
      getRawInput: async () => input,
      signal: undefined,
      batchIndex: 0,
    });
    return true;
  } catch (error) {
    const { code, cause } = error as TRPCError;
    const isRefused = cause instanceof ApiError && cause.code === 'not_permitted';
    if (!isRefused) expect([path, code]).toEqual([path, 'BAD_REQUEST']);
    return !isRefused;
  }
}

const isPage = (path: string): boolean => path.startsWith('/');
const call = (role: Role, path: string, input: Record<string, unknown> = {}) =>
  isPage(path) ? isAllowed(role, path, input) : isAllowedInProcess(role, path, { none: 1, ...input });

/** Finds the permission of a role by calls in test and live mode, without a mode, with a malformed one, and with a reason. */
async function found(role: Role, path: string): Promise<Answer | string> {
  const withoutMode = await call(role, path);
  // A page has no input.
  if (isPage(path)) return withoutMode ? 'yes' : 'no';
  const modes = ['live', 'TEST', ['test']];
  const otherwise = [withoutMode, ...(await Promise.all(modes.map((mode) => call(role, path, { mode }))))];
  const inTest = await call(role, path, { mode: 'test' });
  if (inTest && otherwise.every(Boolean)) return 'yes';
  if (otherwise.some(Boolean)) return `depends: ${otherwise.join()}`;
  if (inTest) return 'test';
  return (await call(role, path, { reason: 'INC-1' })) ? 'reason' : 'no';
}

describe('the permissions of roles', () => {
  it('have a row in the table of this test for every procedure of the router', () => {
    const pages = Object.keys(table).filter((path) => path.startsWith('/'));
    expect(Object.keys(table).toSorted()).toEqual(
      [...Object.keys(server.services.admin.router._def.procedures), ...pages].toSorted(),
    );
  });

  it('allow support and ops exactly what the table of this test says, and owners everything', async () => {
    const answers: Record<string, unknown> = {};
    for (const path of Object.keys(table))
      answers[path] = await Promise.all([found('support', path), found('ops', path), call('owner', path)]);
    const expected = Object.entries(table).map(([path, roles]) => [path, [...roles, true]]);
    expect(answers).toEqual(Object.fromEntries(expected));
  });

  it('hold over HTTP with a token of the role, for a query and a change of each answer', async () => {
    const kinds = new Map<string, readonly [role: Role, path: string, answer: Answer]>();
    for (const [path, [support, ops]] of Object.entries(table).filter(([name]) => !isPage(name))) {
      kinds.set(`support ${support} ${typeOf(path)}`, ['support', path, support]);
      kinds.set(`ops ${ops} ${typeOf(path)}`, ['ops', path, ops]);
    }
    for (const [role, path, answer] of kinds.values()) {
      const inputs = [{}, { mode: 'live' }, { mode: 'test' }, { reason: 'INC-1' }];
      const answers = await Promise.all(inputs.map((input) => isAllowed(role, path, { none: 1, ...input })));
      const inTest = answer === 'test' || answer === 'yes';
      const withReason = answer === 'reason' || answer === 'yes';
      const expected = [answer === 'yes', answer === 'yes', inTest, withReason];
      expect([role, path, answers]).toEqual([role, path, expected]);
    }
    expect(kinds.size).toBe(10);
  });

  it('let ops activate a suspended partner with a reason, but no pending one; the audit log has the reason', async () => {
    const ops = server.as(tokens.ops);
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const reason = 'suspended by mistake';
    await expect(ops.partners.activate.mutate({ partnerId, reason })).rejects.toThrow(
      'suspended partners only, and no closed one; support or an owner may activate this one',
    );
    await server.admin.partners.activate.mutate({ partnerId });
    await server.admin.partners.suspend.mutate({ partnerId });
    await expect(ops.partners.activate.mutate({ partnerId })).rejects.toThrow('add --reason TEXT');
    expect(await ops.partners.activate.mutate({ partnerId, reason })).toMatchObject({ status: 'active' });
    const [entry] = await server.admin.auditLog.list.query({ target: partnerId });
    expect(entry).toMatchObject({
      operatorName: 'Kim',
      operatorRole: 'ops',
      after: { status: 'active', reason },
    });
  });

  it('do not include a dry run of a change that has none: it is refused with bad_input and changes nothing', async () => {
    const tryOut = (path: string, input: object) =>
      fetch(`${server.adminUrl}/trpc/dry-run/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' },
        body: JSON.stringify(input),
      });
    const answer = await tryOut('partners.create', { name: 'Only tried' });
    expect(await answer.text()).toContain('partners.create has no dry run');
    expect(answer.status).toBe(400);
    expect(await server.db.collection('partners').countDocuments({ name: 'Only tried' })).toBe(0);
  });

  it('allow a procedure without permissions to owners only', async () => {
    const added = router({ conjure: query(z.void(), z.string(), () => 'done') });
    const conjure = (role: AdminContext['operator']['role']) =>
      added
        .createCaller({
          operator: { id: 'opr_1', name: 'Kim', role },
          requestId: 'req_1',
          address: '127.0.0.1',
        })
        .conjure();
    await expect(conjure('support')).rejects.toThrow(
      'The role support does not allow conjure; an owner may do it',
    );
    await expect(conjure('ops')).rejects.toThrow('The role ops does not allow conjure; an owner may do it');
    expect(await conjure('owner')).toBe('done');
  });

  it('show support in the audit log its own entries and all changes of partners, but no reads by others', async () => {
    const { token, id } = await server.admin.operators.create.mutate({ name: 'Robin', role: 'support' });
    const robin = server.as(token);
    const { id: partnerId } = await robin.partners.create.mutate({ name: 'Acme' });
    await server.admin.partners.activate.mutate({ partnerId });
    const own = [expect.objectContaining({ action: 'partners.create', operatorId: id })];
    for (const wanted of [{ actor: id }, { actor: 'Robin' }])
      expect(await robin.auditLog.list.query(wanted)).toEqual(own);
    await server.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 7 });
    await expect
      .poll(() => robin.auditLog.list.query({ target: `${partnerId}:test` }))
      .toMatchObject([{ action: 'limits.set', operatorId: 'opr_first', address: '(masked)' }]);
    const ofPartner = await robin.auditLog.list.query({ target: partnerId });
    expect(ofPartner.map(({ action }) => action).toSorted()).toEqual([
      ...['limits.set', 'partners.activate', 'partners.create'],
    ]);
    const all = await server.admin.auditLog.list.query({ limit: 500 });
    const seen = await robin.auditLog.list.query({ limit: 500 });
    expect(all.some(({ target }) => target === id)).toBe(true);
    expect(
      seen.filter(
        ({ operatorId, target }) => operatorId !== id && !/^(ptr|cli|key|int|txn)_/.test(target ?? ''),
      ),
    ).toEqual([]);
    expect((await robin.auditLog.count.query({})).total).toBe(seen.length);
    // Other roles do not see who read which user's data.
    await server.db.collection<{ _id: string }>('auditLog').insertOne({
      ...{ _id: 'read_1', at: new Date(), operatorId: 'opr_first', operatorName: 'first' },
      ...{ action: 'enrollments.list', target: partnerId, outcome: 'read', requestId: 'r', address: 'a' },
    });
    expect(await robin.auditLog.list.query({ target: partnerId })).toHaveLength(3);
  });

  it('are explained in the error of a refused call: what the role allows, and which roles may make the call', async () => {
    const kim = server.as(tokens.support);
    const wallet = { partnerId: 'ptr_none', mode: 'live' as const };
    await expect(kim.wallets.fund.mutate({ ...wallet, amount: 5_000, reference: 'x' })).rejects.toThrow(
      'The role support allows wallets.fund in test mode only; an owner may do it',
    );
    await expect(kim.jobs.list.query({})).rejects.toThrow('ops or an owner may do it');
  });
});
