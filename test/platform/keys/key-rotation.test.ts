import { decodeProtectedHeader } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { heartbeatEvery } from '../../../server/platform/jobs/processes.ts';
import { keyringReadEvery } from '../../../server/platform/keys/keyring.ts';
import { startPair } from '../../billing/pair.ts';
import { type TestPartner, verifyUser } from '../../harness/partner.ts';
import { refusal, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';

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

/** Returns the ids of the published keys of access tokens. */
async function publishedAt(server: TestServer): Promise<string[]> {
  const { keys } = (await (await get(server, '/.well-known/jwks.json')).json()) as {
    keys: { kid: string; alg: string }[];
  };
  return keys.filter(({ alg }) => alg === 'ES256').map(({ kid }) => kid);
}

/** Exchanges a code at each server. Returns the tokens and the ids of their signing keys. */
async function tokens(): Promise<{ kids: (string | undefined)[]; tokens: (string | undefined)[] }> {
  const made = await Promise.all(
    [pair.first, pair.second].map(async (server) =>
      pair.exchangeAt(server, partner, await pair.verifyUser(partner)),
    ),
  );
  return { kids: made.map(({ token }) => kidOf(token)), tokens: made.map(({ token }) => token) };
}

describe('keyring rotate', () => {
  it('publishes a signing key in every process before any process signs with it; older tokens stay valid', async () => {
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
      // Each process verifies the other's token, because it does not remember that one.
      expect((await get(server, '/api/oauth/userinfo', before.tokens[n])).status).toBe(200);
      expect((await get(server, '/api/oauth/userinfo', after.tokens[n])).status).toBe(200);
    }
    expect(await publishedAt(first)).toContain(kidOf(jws));
    expect(await first.admin.keyring.list.query()).toMatchObject([
      ...['signing', 'signing-rsa', 'code', 'id', 'pairwise'].map((use) => ({ use })),
      { id: 'signing-2', state: 'current' },
      { use: 'master', state: 'current', values: 6 },
    ]);
    const entries = await first.admin.auditLog.list.query({});
    expect(entries.find(({ action }) => action === 'keyring.rotate')).toMatchObject({
      input: { use: 'signing', lead: 600 },
      outcome: 'changed',
    });
  });

  it('makes later codes depend on a new key, and codes of before and after can be exchanged', async () => {
    const { first, second } = pair;
    const early = await verifyUser(first, partner);
    await first.admin.keyring.rotate.mutate({ use: 'code' });
    expect(await refusal(first.admin.keyring.rotate.mutate({ use: 'code' }))).toBe('conflict');
    await second.sweep();
    pair.clock.advance(2 * minute);
    const late = await verifyUser(first, partner);
    const sessions = await pair.db
      .collection('sessions')
      .find({ 'code.keyId': 'code-2' })
      .project({ _id: 1 })
      .toArray();
    expect(sessions).toHaveLength(1);
    for (const verified of [early, late])
      expect((await pair.exchangeAt(second, partner, verified)).status).toBe(200);
  });
});

describe('keyring retire', () => {
  it('is refused until 61 minutes after the replacement of the key; later it removes the key from every JWKS', async () => {
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
      // Each process verifies the token that the other one signed with the key in use.
      expect((await get(server, '/api/oauth/userinfo', before.tokens[n])).status).toBe(200);
    }
    expect(await refusal(retire('signing-2'))).toBe('not_found');
    const entries = await first.admin.auditLog.list.query({});
    const own = entries.filter(({ action }) => action === 'keyring.retire');
    expect(own.filter(({ outcome }) => outcome === 'changed')).toMatchObject([
      { target: 'signing-2', input: { id: 'signing-2' } },
    ]);
    // Numbers of retired keys are not used again.
    expect(await first.admin.keyring.rotate.mutate({ use: 'signing' })).toMatchObject({ id: 'signing-4' });
  });
});

describe('keyring reseal', () => {
  it('is refused with `refused` while a process uses another master key; a process without the old key cannot start', async () => {
    const { first } = pair;
    await first.sweep();
    const shared = { MONGODB_URI: first.uri, SVC_BASE_URL: first.baseUrl };
    const other = await startTestServer({
      clock: pair.clock,
      env: { ...shared, SVC_MASTER_KEY: `${keyOf(9)},${keyOf(7)}` },
    });
    const refused = await refusal(other.admin.keyring.reseal.mutate({}));
    await other.stop();
    expect(refused).toBe('refused');
    const without = startTestServer({ clock: pair.clock, env: { ...shared, SVC_MASTER_KEY: keyOf(9) } });
    await expect(without).rejects.toThrow(/SVC_MASTER_KEY lacks keys .* \(8\)/);
  });
});

describe('keyring retire --compromised', () => {
  // Completes the rotations of the tests above.
  beforeAll(() => pair.clock.advance(61 * minute));
  const keyNamed = async (id: string) =>
    (await pair.first.admin.keyring.list.query()).find((key) => key.id === id);
  const signingKeys = async () =>
    (await pair.first.admin.keyring.list.query()).filter(({ use }) => use === 'signing');
  const currentSigningKey = async () =>
    (await signingKeys()).find(({ state }) => state === 'current') ?? expect.fail('no current key');
  const retire = (id: string) => pair.first.admin.keyring.retire.mutate({ id, compromised: true });
  const kids = async (server: TestServer) => (await publishedAt(server)).join(' ');
  /** Waits until both processes have read the keys by themselves. */
  const untilRead = async () => {
    const stored = await pair.first.db.collection('keys').countDocuments({ use: 'signing' });
    const read = async () => {
      const [first, second] = [await kids(pair.first), await kids(pair.second)];
      return [first === second, first.split(' ').length];
    };
    await expect.poll(read, { timeout: within(20_000) }).toEqual([true, stored]);
  };

  it('ends every token of the signing key in every process, and signs with a new key', async () => {
    const { first, second } = pair;
    await untilRead();
    const before = await tokens();
    const compromised = before.kids[0] ?? '';
    const current = await currentSigningKey();
    const signed = await first.admin.wallets.signedStatement.query({
      partnerId: partner.partnerId,
      mode: 'test',
    });
    expect(kidOf(signed.jws)).toBe(compromised);
    // Each process has signed one of the tokens, and has verified the other.
    for (const token of before.tokens)
      for (const server of [first, second])
        expect((await get(server, '/api/oauth/userinfo', token)).status).toBe(200);

    const retired = await retire(current.id);
    expect(retired).toMatchObject({ id: current.id, state: 'retired', replacedBy: expect.any(String) });
    expect(await publishedAt(first)).not.toContain(compromised);
    for (const token of before.tokens)
      expect((await get(first, '/api/oauth/userinfo', token)).status).toBe(401);
    await untilRead();
    for (const token of before.tokens)
      expect((await get(second, '/api/oauth/userinfo', token)).status).toBe(401);

    const after = await tokens();
    const newKid = (await publishedAt(first)).at(-1);
    expect(after.kids).toEqual([newKid, newKid]);
    for (const token of after.tokens)
      for (const server of [first, second])
        expect((await get(server, '/api/oauth/userinfo', token)).status).toBe(200);
    expect(await keyNamed(retired.replacedBy ?? '')).toMatchObject({ state: 'current' });
    const entries = await first.admin.auditLog.list.query({ target: current.id });
    expect(entries[0]).toMatchObject({
      action: 'keyring.retire',
      outcome: 'changed',
      input: { id: current.id, compromised: true },
    });
    expect(await refusal(retire(current.id))).toBe('not_found');
  });

  it('removes a replaced key even if its tokens are still valid', async () => {
    const { first, second, clock } = pair;
    const old = await tokens();
    const { id } = await currentSigningKey();
    await first.admin.keyring.rotate.mutate({ use: 'signing', lead: 60 });
    clock.advance(2 * minute);
    expect(await refusal(first.admin.keyring.retire.mutate({ id }))).toBe('refused');
    await untilRead();
    const present = await tokens();
    expect(await retire(id)).toMatchObject({ state: 'retired', replacedBy: null });
    await untilRead();
    for (const server of [first, second]) {
      expect((await get(server, '/api/oauth/userinfo', old.tokens[0])).status).toBe(401);
      expect((await get(server, '/api/oauth/userinfo', present.tokens[0])).status).toBe(200);
    }
    expect((await tokens()).kids).toEqual(present.kids);
  });

  it('replaces a pending signing key by a new pending key with the same time of activation', async () => {
    const { first, clock } = pair;
    const signing = (await tokens()).kids;
    const pending = await first.admin.keyring.rotate.mutate({ use: 'signing', lead: 600 });
    expect(pending.state).toBe('pending');
    const pendingKid = (await publishedAt(first)).at(-1) ?? '';
    const { replacedBy } = await retire(pending.id);
    expect(await keyNamed(replacedBy ?? '')).toMatchObject({ state: 'pending', activeAt: pending.activeAt });
    expect(await publishedAt(first)).not.toContain(pendingKid);
    await untilRead();
    expect((await tokens()).kids).toEqual(signing);
    clock.advance(11 * minute);
    const newKid = (await publishedAt(first)).at(-1);
    expect((await tokens()).kids).toEqual([newKid, newKid]);
  });

  it('replaces the current key at once, and a pending key still becomes current at its planned time', async () => {
    const { first, clock } = pair;
    const pending = await first.admin.keyring.rotate.mutate({ use: 'signing', lead: 600 });
    const pendingKid = (await publishedAt(first)).at(-1);
    const { replacedBy } = await retire((await currentSigningKey()).id);
    await untilRead();
    expect(await keyNamed(replacedBy ?? '')).toMatchObject({ state: 'current' });
    expect(await keyNamed(pending.id)).toMatchObject({ state: 'pending', retirableAt: null });
    const [kid] = (await tokens()).kids;
    expect(kid).not.toBe(pendingKid);
    clock.advance(11 * minute);
    expect((await tokens()).kids).toEqual([pendingKid, pendingKid]);
    expect(await keyNamed(pending.id)).toMatchObject({ state: 'current' });
    expect(await keyNamed(replacedBy ?? '')).toMatchObject({ state: 'old', retirableAt: expect.any(String) });
  });

  it('creates only one new key if several calls retire the same key simultaneously', async () => {
    const { first, second } = pair;
    const { id } = await currentSigningKey();
    const before = await signingKeys();
    const calls = [first, second].flatMap(({ admin }) =>
      Array.from({ length: 4 }, () => refusal(admin.keyring.retire.mutate({ id, compromised: true }))),
    );
    const answers = await Promise.all(calls);
    expect(answers).toContain('no refusal');
    for (const answer of answers) expect(['no refusal', 'conflict', 'not_found']).toContain(answer);
    const known = new Set(before.map((key) => key.id));
    expect((await signingKeys()).filter((key) => !known.has(key.id))).toHaveLength(1);
    await untilRead();
    const newKid = (await publishedAt(first)).at(-1);
    expect((await tokens()).kids).toEqual([newKid, newKid]);
  });

  it('is refused with `refused` for a code key, an id key and a pairwise key', async () => {
    for (const key of ['code-1', 'id-1', 'pairwise-1']) expect(await refusal(retire(key))).toBe('refused');
  });
});

it('a process reads the keys from the database at least twice between two heartbeats', () => {
  expect(2 * keyringReadEvery).toBeLessThanOrEqual(heartbeatEvery);
});
