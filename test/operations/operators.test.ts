import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isWellFormedSecret } from '../../server/platform/ids.ts';
import { commandLine } from '../cli/svcadmin.ts';
import { adminToken, manualClock, refusal, startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const operator = (role: 'support' | 'ops' | 'owner') =>
  server.admin.operators.create.mutate({ name: 'Kim', role });

describe('operators', () => {
  it('receive their token when they are created, and sign in with it', async () => {
    const { token, ...created } = await operator('support');
    expect(isWellFormedSecret('operatorToken', token)).toBe(true);
    expect(created).toMatchObject({ name: 'Kim', role: 'support', status: 'active', lastUsedAt: null });
    const identity = await server.as(token).operators.whoami.query();
    expect(identity).toEqual({ id: created.id, name: 'Kim', role: 'support', expiresAt: null });
    const lastUse = async () =>
      (await server.admin.operators.list.query({})).find(({ id }) => id === created.id)?.lastUsedAt;
    await expect.poll(lastUse).not.toBeNull();
  });

  it('are refused with operator_unknown as soon as they are revoked', async () => {
    const { token, id: operatorId } = await operator('ops');
    expect(await server.admin.operators.revoke.mutate({ operatorId })).toMatchObject({ status: 'revoked' });
    expect(await refusal(server.as(token).operators.whoami.query())).toBe('operator_unknown');
  });

  it('are warned by a header and by svcadmin in the seven days before their token expires, and then get 401', async () => {
    const clock = manualClock();
    const expiring = await startTestServer({ clock });
    onTestFinished(() => expiring.stop());
    const asked = { name: 'Kim', role: 'ops', expiresIn: 90 * 86_400 } as const;
    const { token, expiresAt } = await expiring.admin.operators.create.mutate(asked);
    expect(expiresAt).toBe(new Date(clock.now() + 90 * 86_400_000).toISOString());
    const url = `${expiring.adminUrl}/trpc/operators.whoami`;
    const ask = () => fetch(url, { headers: { authorization: `Bearer ${token}` } });
    const warning = async () => (await ask()).headers.get('svc-token-expires');
    clock.advance(83 * 86_400_000);
    expect(await warning()).toBeNull();
    clock.advance(1);
    expect(await warning()).toBe(expiresAt);
    expect(await expiring.as(token).operators.whoami.query()).toMatchObject({ name: 'Kim', expiresAt });
    const svcadmin = await commandLine(expiring.adminUrl, token);
    const { stderr } = await svcadmin.run(['roles']);
    expect(stderr.match(/Your operator token expires on/g)).toHaveLength(1);
    clock.advance(7 * 86_400_000 - 2);
    expect((await ask()).status).toBe(200);
    clock.advance(1);
    const refused = await ask();
    expect(refused.status).toBe(401);
    expect(await refused.text()).toContain(`This operator token expired at ${expiresAt}`);
  });

  it('are expired, and no longer active, from the expiry of their token on, until they are revoked', async () => {
    const clock = manualClock();
    const expiring = await startTestServer({ clock });
    onTestFinished(() => expiring.stop());
    const { operators } = expiring.admin;
    const sue = await operators.create.mutate({ name: 'Sue', role: 'support', expiresIn: 60 });
    clock.advance(1);
    const kim = await operators.create.mutate({ name: 'Kim', role: 'support' });
    const found = async (status?: 'active' | 'expired' | 'revoked') => {
      const ids = (await operators.list.query({ status })).map(({ id }) => id);
      expect(await operators.count.query({ status })).toEqual({ total: ids.length, exact: true });
      return ids;
    };
    clock.advance(59_998);
    expect([await found('active'), await found('expired')]).toEqual([[kim.id, sue.id], []]);
    expect(await operators.show.query({ operatorId: sue.id })).toMatchObject({ status: 'active' });
    clock.advance(1);
    expect([await found('active'), await found('expired')]).toEqual([[kim.id], [sue.id]]);
    expect(await operators.show.query({ operatorId: sue.id })).toMatchObject({ status: 'expired' });
    expect(await operators.revoke.mutate({ operatorId: sue.id })).toMatchObject({ status: 'revoked' });
    expect([await found('expired'), await found('revoked')]).toEqual([[], [sue.id]]);
    expect(await found()).toHaveLength(2);
  });

  it('sign in with their tokens if SVC_ADMIN_TOKEN is off; the former first token and the text "off" get 401', async () => {
    const before = await startTestServer();
    onTestFinished(() => before.stop());
    const { token } = await before.admin.operators.create.mutate({ name: 'Kim', role: 'owner' });
    const env = { MONGODB_URI: before.uri, SVC_ADMIN_TOKEN: 'off' };
    const retired = await startTestServer({ env });
    onTestFinished(() => retired.stop());
    const url = `${retired.adminUrl}/trpc/operators.whoami`;
    const status = async (bearer: string) =>
      (await fetch(url, { headers: { authorization: `Bearer ${bearer}` } })).status;
    expect(await status(token)).toBe(200);
    for (const refused of [adminToken, 'off']) expect(await status(refused)).toBe(401);
  });

  it('cannot revoke themselves, and those with the role ops cannot create other operators', async () => {
    const owner = await operator('owner');
    const admin = server.as(owner.token);
    expect(await refusal(admin.operators.revoke.mutate({ operatorId: owner.id }))).toBe('refused');
    const ops = await operator('ops');
    const attempt = server.as(ops.token).operators.create.mutate({ name: 'Eve', role: 'owner' });
    expect(await refusal(attempt)).toBe('not_permitted');
  });
});

describe('the admin listener', () => {
  const whoami = (headers: Record<string, string>) =>
    fetch(`${server.adminUrl}/trpc/operators.whoami`, { headers });

  it('answers 401 without a token', async () => {
    const answer = await whoami({});
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    expect(answer.headers.get('x-request-id')).toMatch(/^req_/);
    expect(await answer.json()).toMatchObject({ error: { data: { error: 'operator_unknown', exit: 3 } } });
  });

  it('answers 429 to an address after many wrong tokens, but accepts a right token from that address', async () => {
    let answer = await whoami({ authorization: 'Bearer wrong' });
    for (let tries = 0; tries < 25 && answer.status === 401; tries += 1) {
      answer = await whoami({ authorization: 'Bearer wrong' });
    }
    expect(answer.status).toBe(429);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await whoami({ authorization: `bearer ${adminToken}` })).status).toBe(200);
  });

  it('answers 404 for an unknown procedure, and 400 bad_input for malformed JSON', async () => {
    const headers = { authorization: `Bearer ${adminToken}`, 'content-type': 'application/json' };
    const unknown = await fetch(`${server.adminUrl}/trpc/partners.conjure`, { headers });
    expect(unknown.status).toBe(404);
    const malformed = await fetch(`${server.adminUrl}/trpc/partners.create`, {
      method: 'POST',
      headers,
      body: '{',
    });
    expect(malformed.status).toBe(400);
    expect(await malformed.json()).toMatchObject({ error: { data: { error: 'bad_input', exit: 2 } } });
  });
});
