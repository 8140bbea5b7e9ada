import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { sha256 } from '../../server/platform/ids.ts';
import { call, createShop, fields, shopDomain, sign } from '../api/storefront/shop.ts';
import { commandLine } from '../cli/svcadmin.ts';
import { completeSession } from '../harness/completed-session.ts';
import {
  createPartner,
  exchangeCode,
  post,
  redirectUri,
  type TestPartner,
  tokenForm,
  verifyUser,
} from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { createBrowser } from '../journey/browser.ts';
import { newStart, startUrl } from '../journey/pkce.ts';

const minute = 60_000;
const clock = manualClock();
let server: TestServer;
let partner: TestPartner;
let other: TestPartner;
/** Sessions, by the way in which they ended. */
const sessions = { complete: '', failed: '', expired: '', open: '' };
let charge = '';

const iso = (ahead: number) => new Date(clock.now() + ahead).toISOString();
const tokenUrl = () => `${server.baseUrl}/api/oauth/token`;

/** Starts a session that its user never finishes. @returns the session's id */
async function abandoned({ clientId }: TestPartner): Promise<string> {
  const { codeChallenge, state } = newStart();
  const scope = 'age_18_plus';
  const start = startUrl({ baseUrl: server.baseUrl, clientId, redirectUri, scope, state, codeChallenge });
  const page = await createBrowser(server.baseUrl).open(start);
  return /ses_\w{22}/.exec(page.url)?.[0] ?? '';
}

const newest = async (filter: object): Promise<string> => {
  const found = await server.db.collection('sessions').findOne(filter, { sort: { createdAt: -1 } });
  return String(found?._id);
};

beforeAll(async () => {
  server = await startTestServer({ clock });
  partner = await createPartner(server);
  clock.advance(1_000);
  other = await createPartner(server);
  sessions.expired = await abandoned(partner);
  clock.advance(40 * minute);
  await verifyUser(server, partner, 'rejected');
  sessions.failed = await newest({ partnerId: partner.partnerId });
  clock.advance(minute);
  const finished = await completeSession(server, partner);
  sessions.complete = await newest({ 'code.hash': sha256(finished.code) });
  const answer = await exchangeCode(server, partner, finished);
  expect(answer.status).toBe(200);
  const session = await server.admin.sessions.show.query({ sessionId: sessions.complete });
  charge = session.code?.charge?.id ?? '';
  clock.advance(minute);
  sessions.open = await abandoned(partner);
  await completeSession(server, other);
});
afterAll(() => server.stop());

describe('sessions list', () => {
  const list = async (wanted: Parameters<TestServer['admin']['sessions']['list']['query']>[0]) =>
    (await server.admin.sessions.list.query(wanted)).rows.map(({ id }) => id);

  it('lists sessions of one partner, client or mode, in pages, the newest first', async () => {
    const all = [sessions.open, sessions.complete, sessions.failed, sessions.expired];
    const { partnerId, clientId } = partner;
    expect(await list({ partnerId })).toEqual(all);
    expect(await list({ clientId })).toEqual(all);
    expect(await list({ clientId: other.clientId })).toHaveLength(1);
    expect(await list({})).toHaveLength(5);
    expect(await list({ partnerId, limit: 2 })).toEqual(all.slice(0, 2));
    expect(await list({ partnerId, limit: 2, after: sessions.complete })).toEqual(all.slice(2));
    expect(await list({ partnerId, mode: 'live' })).toEqual([]);
  });

  it.each([
    ['failed', ['failed'], 'document_rejected', 'verify'],
    ['expired', ['expired'], 'session_expired', 'consent'],
    ['open', ['open'], null, 'consent'],
    ['complete', ['complete'], null, 'completed'],
    ['pending', ['open', 'expired'], null, 'consent'],
    ['verified', [], null, null],
  ] as const)(
    'finds the sessions with the status %s, with their reason and step',
    async (status, expected, reason, step) => {
      const { rows } = await server.admin.sessions.list.query({ partnerId: partner.partnerId, status });
      expect(rows.map(({ id }) => id)).toEqual(expected.map((name) => sessions[name]));
      if (rows[0]) expect(rows[0]).toMatchObject({ reason, step });
    },
  );

  it('finds an expired session, which has no events, by its partner and time', async () => {
    const { partnerId } = partner;
    const period = { since: iso(-45 * minute), until: iso(-40 * minute) };
    const [found, ...more] = (await server.admin.sessions.list.query({ partnerId, ...period })).rows;
    expect(found).toMatchObject({ id: sessions.expired, expired: true, reason: 'session_expired' });
    expect(more).toEqual([]);
    expect(await server.admin.events.list.query({ sessionId: sessions.expired })).toEqual([]);
    expect(await list({ partnerId, since: iso(minute) })).toEqual([]);
  });

  it('finds the sessions of an enrollment', async () => {
    const { enrollmentId } = await server.admin.sessions.show.query({ sessionId: sessions.complete });
    expect(await list({ enrollmentId: enrollmentId ?? '' })).toEqual([sessions.complete]);
  });

  it('throws an error that names the fault for an unknown id, an id of another kind and a malformed filter', async () => {
    await expect(list({ after: 'ses_none' })).rejects.toThrow('No session ses_none');
    await expect(list({ enrollmentId: 'enr_none' })).rejects.toThrow('No enrollment enr_none');
    await expect(list({ after: 'ses_none', enrollmentId: 'enr_none' })).rejects.toThrow(
      'No session ses_none',
    );
    await expect(list({ partnerId: sessions.open })).rejects.toThrow('is a session; this needs ptr_');
    await expect(list({ status: 'lost' as never })).rejects.toThrow('status');
    await expect(list({ since: 'yesterday' })).rejects.toThrow('since');
  });
});

describe('requests list and refused', () => {
  const list = async (wanted: Parameters<TestServer['admin']['requests']['list']['query']>[0]) =>
    (await server.admin.requests.list.query(wanted)).rows;

  beforeAll(async () => {
    const wrong = { ...tokenForm(partner, { code: 'svc_code_none', codeVerifier: 'v'.repeat(43) }) };
    clock.advance(minute);
    for (let n = 0; n < 3; n += 1) await post(tokenUrl(), wrong);
    clock.advance(minute);
    await post(tokenUrl(), { ...wrong, client_secret: 'wrong' });
    await post(tokenUrl(), { ...wrong, client_id: other.clientId, client_secret: 'wrong' });
    const session = `${server.baseUrl}/api/verify/hvf-session/${sessions.failed}`;
    await fetch(session, { headers: { authorization: `Bearer ${partner.apiKey}` } });
    const kept = () => list({ partnerId: partner.partnerId, path: '/api/verify' });
    await vi.waitFor(async () => expect(await kept()).toHaveLength(1), { timeout: within(10_000) });
  });

  it('list requests with their partner, key or client, and can filter by status, path, error and session', async () => {
    const { partnerId, keyId, clientId } = partner;
    const [asked] = await list({ partnerId, path: '/api/verify' });
    expect(asked).toMatchObject({ partnerId, keyId, sessionId: sessions.failed, status: 200 });
    const refused = await list({ partnerId, status: '4xx' });
    expect(refused.map(({ error }) => error)).toEqual(['invalid_client', ...Array(3).fill('invalid_grant')]);
    expect(refused[0]).toMatchObject({ partnerId, clientId, keyId: null, route: '/api/oauth/token' });
    expect(await list({ partnerId, status: '401' })).toEqual(refused.slice(0, 1));
    expect(await list({ partnerId, error: 'invalid_grant' })).toEqual(refused.slice(1));
    expect(await list({ partnerId, status: '4xx', path: '/verify' })).toEqual([]);
    expect((await list({ status: '401' })).map((row) => row.partnerId).toSorted()).toEqual(
      [partnerId, other.partnerId].toSorted(),
    );
    expect(await list({ sessionId: sessions.failed, path: '/api' })).toEqual([asked]);
    expect(await list({ partnerId, clientId: other.clientId })).toEqual([]);
  });

  it('list the requests of a time span, in pages', async () => {
    const { partnerId } = partner;
    const all = await list({ partnerId, status: '4xx' });
    const first = await list({ partnerId, status: '4xx', limit: 2 });
    const rest = await list({ partnerId, status: '4xx', limit: 2, after: first.at(-1)?.id ?? '' });
    expect([...first, ...rest]).toEqual(all);
    expect(await list({ partnerId, status: '4xx', since: iso(-30_000) })).toEqual(all.slice(0, 1));
    expect(await list({ partnerId, status: '4xx', until: iso(-30_000) })).toEqual(all.slice(1));
  });

  it('count refused requests by partner, route and error, for seven days at most, and name the last request', async () => {
    const since = iso(-60 * minute);
    const { rows, countedSince } = await server.admin.requests.refused.query({ since });
    expect(countedSince).toBe(since);
    expect(rows[0]).toMatchObject({
      partnerId: partner.partnerId,
      partnerName: 'Acme Cinema',
      error: 'invalid_grant',
      limit: null,
      count: 3,
    });
    expect(rows.slice(1).map(({ error, count }) => [error, count])).toEqual([
      ['invalid_client', 1],
      ['invalid_client', 1],
    ]);
    const own = { since, partnerId: other.partnerId };
    expect((await server.admin.requests.refused.query(own)).rows).toMatchObject([{ count: 1 }]);
    const earlier = await server.admin.requests.refused.query({ since, until: iso(-30_000) });
    expect(earlier.rows.map(({ error }) => error)).not.toContain('invalid_client');
    expect(earlier.rows[0]).toMatchObject({ error: 'invalid_grant', count: 3 });
    const last = await server.admin.requests.show.query({ requestId: rows[0]?.lastRequest ?? '' });
    expect(last.request).toMatchObject({ error: 'invalid_grant', at: rows[0]?.lastAt });
    const grants = { partnerId: partner.partnerId, error: 'invalid_grant', since };
    // Two of the requests may have been sent within one millisecond.
    const listed = (await server.admin.requests.list.query(grants)).rows;
    expect([rows[0]?.firstAt, rows[0]?.lastAt]).toEqual([listed.at(-1)?.at, listed[0]?.at]);
    // Requests of every route count, as `/ops` counts them.
    const start = await fetch(`${server.baseUrl}/verify/start?client_id=${other.clientId}`);
    expect(start.status).toBe(400);
    const atStart = { route: '/verify/start', error: 'invalid_request', count: 1 };
    const ofOther = async () => (await server.admin.requests.refused.query(own)).rows;
    await vi.waitFor(async () => expect(await ofOther()).toMatchObject([atStart, { count: 1 }]), {
      timeout: within(10_000),
    });
    // Older records are not kept.
    const longAgo = await server.admin.requests.refused.query({ since: iso(-30 * 1440 * minute) });
    expect(longAgo.countedSince).toBe(iso(-7 * 1440 * minute));
  });

  it.each([
    ['the status 4x', { status: '4x' }, 'such as 404'],
    ['the status 600', { status: '600' }, 'such as 404'],
    ['a path without a slash', { path: 'api' }, 'the beginning of a path'],
    ['a malformed request id', { after: 'req_1' }, 'X-Request-Id'],
    ['an unknown request id', { after: 'req_0000000000000000000000' }, 'No request'],
    ['a client id as partnerId', { partnerId: 'cli_1' }, 'is a client'],
    ['the limit 0', { limit: 0 }, 'limit'],
  ])('throw an error that names the fault if the filter has %s', async (_what, wanted, words) => {
    await expect(list(wanted)).rejects.toThrow(words);
  });
});

describe('partners search', () => {
  const search = (text: string, more = {}) => server.admin.partners.search.query({ text, ...more });
  const idsOf = async (text: string) => (await search(text)).map(({ id }) => id);

  it('finds a partner by name, id, redirect host, or the last four characters of a secret, and says what matched', async () => {
    const cafe = await server.admin.partners.create.mutate({ name: 'Café (Nord) *' });
    const key = await server.admin.keys.create.mutate({ partnerId: cafe.id, mode: 'test' });
    const client = await server.admin.clients.create.mutate({
      ...{ partnerId: cafe.id, keyId: key.id, name: 'Shop', claims: ['age_18_plus'], kind: 'oauth' },
      redirectUris: ['https://www.nord-cafe.example/back?from=acme'],
    });
    for (const text of ['café', '(nord) *', cafe.id, client.id, key.id, client.id.slice(0, 12)])
      expect(await idsOf(text)).toEqual([cafe.id]);
    for (const text of ['nord-cafe', 'NORD-CAFE.example', 'https://nord-cafe.example/other'])
      expect(await search(text)).toMatchObject([
        { id: cafe.id, found: [`redirect URI https://www.nord-cafe.example/back?from=acme of ${client.id}`] },
      ]);
    expect(await search(key.last4)).toMatchObject([
      { id: cafe.id, found: [`API key ${key.id} …${key.last4}`] },
    ]);
    const { signingSecret } = await server.admin.webhooks.set.mutate({
      ...{ keyId: key.id, url: 'http://localhost:1/' },
    });
    const { clientSecret, secrets } = client;
    expect(secrets).toMatchObject([{ last4: clientSecret.slice(-4), createdAt: expect.any(String) }]);
    expect(await search(clientSecret.slice(-4))).toMatchObject([
      { id: cafe.id, found: [`client secret of ${client.id} …${clientSecret.slice(-4)}`] },
    ]);
    expect(await search(signingSecret.slice(-4))).toMatchObject([
      { id: cafe.id, found: [`signing secret of ${key.id} …${signingSecret.slice(-4)}`] },
    ]);
    expect(await server.admin.webhooks.show.query({ keyId: key.id })).toMatchObject({
      last4: signingSecret.slice(-4),
      rotatedAt: expect.any(String),
    });
    await server.admin.webhooks.rotateSecret.mutate({ keyId: key.id });
    await server.admin.keys.rotate.mutate({ keyId: key.id, keepOldSeconds: 0 });
    for (const last4 of [key.last4, signingSecret.slice(-4)]) {
      const [{ found: [words] = [] } = {}] = await search(last4);
      expect(words).toMatch(
        new RegExp(
          `^secret of ${key.id} …${last4} until .+ replaced or removed it at \\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z$`,
        ),
      );
    }
    const kept = { clientId: client.id, keepOldSeconds: 60 };
    const rotated = await server.admin.clients.rotateSecret.mutate(kept);
    expect(rotated.secrets.map(({ last4 }) => last4)).toEqual([
      ...[rotated.clientSecret.slice(-4), clientSecret.slice(-4)],
    ]);
    const shop = await server.admin.clients.create.mutate({
      ...{ partnerId: cafe.id, keyId: key.id, name: 'Shop', claims: ['age_18_plus'], kind: 'storefront' },
      redirectUris: ['https://shop.example/'],
    });
    const wanted = { partnerId: cafe.id, clientId: shop.id, shops: ['shop.example'] };
    const { id, integrationSecret, last4 } = await server.admin.integrations.create.mutate(wanted);
    expect(last4).toBe(integrationSecret.slice(-4));
    expect(await search(last4 ?? '')).toMatchObject([
      { id: cafe.id, found: [`integration secret of ${id} …${last4}`] },
    ]);
    // The part after the host is ignored.
    expect(await idsOf('from=acme')).toEqual([]);
    expect(await idsOf('.*')).toEqual([]);
    expect(await search('café', { status: 'active' })).toEqual([]);
    expect(await search('café', { status: 'pending' })).toHaveLength(1);
  });

  it('finds a name in whatever form its letters were typed, also one that an older build stored', async () => {
    const [nfd, nfc] = ['Zoe\u0308 Ltd', 'Zo\u00eb Ltd'];
    const made = await server.admin.partners.create.mutate({ name: nfd });
    expect(made.name).toBe(nfc);
    for (const stored of [nfc, nfd]) {
      const filter = { _id: made.id } as object;
      await server.db.collection('partners').updateOne(filter, { $set: { name: stored } });
      for (const typed of [nfc, nfd]) expect(await idsOf(typed)).toEqual([made.id]);
    }
  });

  it('lists matching partners in pages, the newest first', async () => {
    const all = await idsOf('acme');
    expect(all).toEqual([other.partnerId, partner.partnerId]);
    expect(await search('acme', { limit: 1 })).toMatchObject([{ id: other.partnerId, found: ['name'] }]);
    expect(await search('acme', { after: other.partnerId })).toMatchObject([{ id: partner.partnerId }]);
    await expect(search('acme', { after: 'ptr_none' })).rejects.toThrow('No partner ptr_none');
    await expect(search('a')).rejects.toThrow('at least two characters');
  });
});

describe('users find', () => {
  const find = (wanted: Parameters<TestServer['admin']['users']['find']['query']>[0]) =>
    server.admin.users.find.query(wanted);

  it('finds the enrollments of a user by session, subject, enrollment or user id', async () => {
    const { sub, enrollmentId } = await server.admin.sessions.show.query({ sessionId: sessions.complete });
    const bySession = await find({ of: sessions.complete });
    const mine = { id: enrollmentId, sub, partnerId: partner.partnerId, clientId: partner.clientId };
    expect(bySession).toEqual([expect.objectContaining(mine)]);
    expect(await find({ of: sub ?? '' })).toEqual(bySession);
    expect(await find({ of: enrollmentId ?? '' })).toEqual(bySession);
    expect(await find({ of: bySession[0]?.userId ?? '' })).toEqual(bySession);
    expect(await find({ of: sessions.open })).toEqual([]);
    expect(await find({ of: 'unknown' })).toEqual([]);
  });

  it("finds a customer's enrollment by client, shop and the shop's own customer id", async () => {
    const shop = await createShop(server);
    const { code } = await completeSession(server, shop, 'adult', 'age_18_plus');
    const body = JSON.stringify(fields(code, { customer_id: 'customer-10042' }));
    expect(await call(server, body, sign(shop, body, clock.now()))).toMatchObject({ status: 200 });
    const customer = { clientId: shop.clientId, shop: shopDomain, customerId: 'customer-10042' };
    expect(await find({ customer })).toMatchObject([{ clientId: shop.clientId, status: 'active' }]);
    expect(await find({ customer: { ...customer, customerId: 'customer-1' } })).toEqual([]);
    expect(await find({ customer: { ...customer, clientId: partner.clientId } })).toEqual([]);
    await expect(find({ of: 'x', customer })).rejects.toThrow('either a reference or a customer');
    await expect(find({})).rejects.toThrow('either a reference or a customer');
  });
});

describe('a ledger entry', () => {
  it('names its session, client and enrollment, also in the statement', async () => {
    const session = await server.admin.sessions.show.query({ sessionId: sessions.complete });
    const cause = {
      sessionId: sessions.complete,
      clientId: partner.clientId,
      enrollmentId: session.enrollmentId,
    };
    expect(await server.admin.wallets.entry.query({ entryId: charge })).toMatchObject(cause);
    const { entries } = await server.admin.wallets.statement.query({ partnerId: partner.partnerId });
    const nothing = { sessionId: null, clientId: null, enrollmentId: null };
    expect(entries).toMatchObject([
      { kind: 'funding', ...nothing },
      { id: charge, ...cause },
    ]);
  });

  it('is in a signed statement with its own id but without its session id, because session ids are deleted later', async () => {
    const signed = await server.admin.wallets.signedStatement.query({ partnerId: partner.partnerId });
    const payload = Buffer.from(signed.jws.split('.')[1] ?? '', 'base64url').toString('utf8');
    expect(payload).toContain(charge);
    expect(payload).not.toContain(sessions.complete);
  });
});

it("sessions list finds a session by its state, by its reference, or by 22 characters of the state's hash", async () => {
  const { baseUrl } = server;
  const { codeChallenge, state } = newStart();
  const { clientId } = partner;
  const begun = startUrl({ baseUrl, clientId, redirectUri, scope: 'age_18_plus', state, codeChallenge });
  const start = `${begun}&client_reference_id=visit:17`;
  const [id] = /ses_\w{22}/.exec((await createBrowser(baseUrl).open(start)).url) ?? [];
  const svcadmin = await commandLine(server.adminUrl);
  const found = await svcadmin.json<{ id: string }[]>('sessions', 'list', '--state', state);
  expect(found.map((session) => session.id)).toEqual([id]);
  expect(await svcadmin.json('sessions', 'list', '--state', `${state}x`)).toEqual([]);
  const referred = await svcadmin.json<{ id: string }[]>('sessions', 'list', '--reference', 'visit:17');
  expect(referred).toMatchObject([{ id, clientReferenceId: 'visit:17' }]);
  const stateHash = createHash('sha256').update(state).digest('base64url').slice(0, 22);
  expect(await server.admin.sessions.count.query({ stateHash })).toEqual({ total: 1, exact: true });
  const elsewhere = { stateHash, partnerId: 'ptr_0000000000000000000000' };
  expect(await server.admin.sessions.count.query(elsewhere)).toMatchObject({ total: 0 });
});
