import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startPair } from '../billing/pair.ts';
import type { TestPartner } from '../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../harness/server.ts';

const minute = 60_000;
const keyOf = (byte: number) => Buffer.alloc(32, byte).toString('base64');

let pair: Awaited<ReturnType<typeof startPair>>;
let partner: TestPartner;
beforeAll(async () => {
  pair = await startPair();
  partner = await pair.partner();
});
afterAll(() => pair.stop());

const kidOf = (token = '') => decodeProtectedHeader(token).kid;
const portOf = ({ config }: TestServer) => config.public.port;
const get = (server: TestServer, path: string, token = '') =>
  fetch(`http://127.0.0.1:${portOf(server)}${path}`, { headers: { authorization: `Bearer ${token}` } });

async function publishedAt(server: TestServer): Promise<string[]> {
  const { keys } = (await (await get(server, '/.well-known/jwks.json')).json()) as {
    keys: { kid: string }[];
  };
  return keys.map(({ kid }) => kid);
}

/** One exchange at each server: the key ids that they sign with, and the tokens. */
async function tokens(): Promise<{ kids: (string | undefined)[]; tokens: (string | undefined)[] }> {
  const made = await Promise.all(
    [pair.first, pair.second].map(async (server) =>
      pair.exchangeAt(server, partner, await pair.visit(partner)),
    ),
  );
  return { kids: made.map(({ token }) => kidOf(token)), tokens: made.map(({ token }) => token) };
}

describe('keyring rotate', () => {
  it('publishes a signing key in every process before any signs with it; older tokens verify', async () => {
    const { first, second } = pair;
    const [oldKid = ''] = await publishedAt(first);
    const before = await tokens();
    const { jws } = await first.admin.wallets.signedStatement.query({
      partnerId: partner.partnerId,
      mode: 'test',
    });
    const made = await first.admin.keyring.rotate.mutate({ use: 'signing', lead: 10 * 60 });
    expect(made).toMatchObject({ id: 'signing-2', state: 'pending' });
    await second.sweep();
    for (const server of [first, second]) {
      expect(await publishedAt(server)).toHaveLength(2);
      expect((await publishedAt(server))[0]).toBe(oldKid);
    }
    const [, newKid] = await publishedAt(first);
    pair.clock.advance(9 * minute);
    expect((await tokens()).kids).toEqual([oldKid, oldKid]);
    pair.clock.advance(2 * minute);
    const after = await tokens();
    expect(after.kids).toEqual([newKid, newKid]);

    for (const [n, server] of [second, first].entries()) {
      // A process verifies what the other one has signed: it does not know those tokens.
      expect((await get(server, '/api/oauth/userinfo', before.tokens[n])).status).toBe(200);
      expect((await get(server, '/api/oauth/userinfo', after.tokens[n])).status).toBe(200);
    }
    expect(await publishedAt(first)).toContain(kidOf(jws));
    expect(await first.admin.keyring.list.query()).toMatchObject([
      ...['signing', 'code', 'id', 'pairwise'].map((use) => ({ use })),
      { id: 'signing-2', state: 'current' },
      { use: 'master', state: 'current', values: 5 },
    ]);
    const entries = await first.admin.auditLog.list.query({});
    expect(entries.find(({ action }) => action === 'keyring.rotate')).toMatchObject({
      input: { use: 'signing', lead: 600 },
      outcome: 'changed',
    });
  });

  it('derives new codes under a new key, and codes that were issued before stay usable', async () => {
    const { first, second } = pair;
    const early = await pair.visit(partner);
    await first.admin.keyring.rotate.mutate({ use: 'code' });
    expect(await refusal(first.admin.keyring.rotate.mutate({ use: 'code' }))).toBe('conflict');
    await second.sweep();
    pair.clock.advance(2 * minute);
    const late = await pair.visit(partner);
    const sessions = await pair.db
      .collection('sessions')
      .find({ 'code.keyId': 'code-2' })
      .project({ _id: 1 })
      .toArray();
    expect(sessions).toHaveLength(1);
    for (const visit of [early, late])
      expect((await pair.exchangeAt(second, partner, visit)).status).toBe(200);
  });
});

describe('keyring retire', () => {
  it('is refused until no token of the key lives; then no process publishes or accepts it', async () => {
    const { first, second, clock } = pair;
    const retire = (id: string) => first.admin.keyring.retire.mutate({ id });
    const told = (key: string) => retire(key).catch((error: Error) => error.message);
    const keyNamed = async (id: string) =>
      (await first.admin.keyring.list.query()).find((key) => key.id === id);
    await first.admin.keyring.rotate.mutate({ use: 'signing', lead: 10 * 60 });
    await second.sweep();
    const [current] = await tokens().then((made) => made.tokens);
    expect(await keyNamed('signing-2')).toMatchObject({ state: 'current', retirableAt: null });
    for (const key of ['signing-2', 'signing-3'])
      expect(await told(key)).toMatch(`${key} signs, or is going to`);
    for (const key of ['code-1', 'id-1', 'pairwise-1']) expect(await refusal(retire(key))).toBe('refused');
    expect(await refusal(retire('signing-9'))).toBe('not_found');

    clock.advance(10 * minute);
    const replacedAt = (await keyNamed('signing-3'))?.activeAt ?? '';
    const due = new Date(Date.parse(replacedAt) + 61 * minute).toISOString();
    expect(await keyNamed('signing-2')).toMatchObject({ state: 'old', retirableAt: due });
    expect(await told('signing-2')).toContain(due);
    clock.set(Date.parse(due) - 1);
    expect(await told('signing-2')).toContain(due);
    expect(await publishedAt(second)).toContain(kidOf(current));

    clock.set(Date.parse(due));
    const before = await tokens();
    expect(await retire('signing-2')).toMatchObject({ id: 'signing-2', use: 'signing', state: 'retired' });
    await second.sweep();
    for (const [n, server] of [second, first].entries()) {
      expect(await publishedAt(server)).not.toContain(kidOf(current));
      // What the keys in use have signed is verified by the process that does not know it.
      expect((await get(server, '/api/oauth/userinfo', before.tokens[n])).status).toBe(200);
    }
    expect(await refusal(retire('signing-2'))).toBe('not_found');
    const entries = await first.admin.auditLog.list.query({});
    const own = entries.filter(({ action }) => action === 'keyring.retire');
    expect(own.filter(({ outcome }) => outcome === 'changed')).toMatchObject([
      { target: 'signing-2', input: { id: 'signing-2' } },
    ]);
    // Numbers of retired keys are not given again.
    expect(await first.admin.keyring.rotate.mutate({ use: 'signing' })).toMatchObject({ id: 'signing-4' });
  });
});

describe('keyring reseal', () => {
  it('is refused while a process seals under another master key, or lacks the old one', async () => {
    const { first } = pair;
    await first.sweep();
    const shared = { MONGODB_URI: first.uri, SVC_BASE_URL: first.baseUrl };
    const other = await startTestServer({
      clock: pair.clock,
      env: { ...shared, SVC_MASTER_KEY: `${keyOf(9)},${keyOf(7)}` },
    });
    expect(await refusal(other.admin.keyring.reseal.mutate({}))).toBe('refused');
    await other.stop();
    const without = startTestServer({ clock: pair.clock, env: { ...shared, SVC_MASTER_KEY: keyOf(9) } });
    await expect(without).rejects.toThrow(/SVC_MASTER_KEY lacks keys .* \(7\)/);
  });
});
