import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAdminApi } from '../../cli/connection/client.ts';
import { sha256 } from '../../server/platform/ids.ts';
import { maskSecrets } from '../../server/platform/telemetry/masking.ts';
import { createPartner, exchangeCode, post, type TestPartner, verifyUser } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
let partner: TestPartner;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_TRUST_PROXY: 'on' } });
  partner = await createPartner(server);
});
afterAll(() => server.stop());

const rows = () => server.db.collection<{ _id: string; address?: string }>('requestLog');

async function loggedRequest(requestId: string) {
  const show = () => server.admin.requests.show.query({ requestId }).catch(() => undefined);
  await expect.poll(show).toBeDefined();
  return (await show())?.request;
}

const idOf = (answer: Pick<Response, 'headers'>) => answer.headers.get('x-request-id') ?? '';

/** Waits until all earlier requests are in the log. Rows are written in the order of the requests, so a last one shows it. */
async function settle(): Promise<void> {
  await loggedRequest(idOf(await fetch(sessionUrl('ses_none'), { headers: bearer(partner.apiKey) })));
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (user: string, password: string) => ({ authorization: `Basic ${btoa(`${user}:${password}`)}` });
const sessionUrl = (id: string) => `${server.baseUrl}/api/verify/hvf-session/${id}`;
const tokenUrl = () => `${server.baseUrl}/api/oauth/token`;

describe('the log of requests', () => {
  it('stores a refused token request of a known client, and requests.show returns its status and error', async () => {
    const answer = await post(tokenUrl(), { grant_type: 'authorization_code', client_id: partner.clientId });
    expect(await loggedRequest(idOf(answer))).toMatchObject({
      route: '/api/oauth/token',
      status: 400,
      error: 'invalid_request',
      clientId: partner.clientId,
    });
  });

  it('stores the 404 of a session query by a known API key, and the 401 of a known client', async () => {
    const queried = await fetch(sessionUrl('ses_unknown'), { headers: bearer(partner.apiKey) });
    const claims = Buffer.from(JSON.stringify({ client_id: partner.clientId })).toString('base64url');
    const read = await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers: bearer(`eyJ.${claims}.x`) });
    expect(await loggedRequest(idOf(queried))).toMatchObject({ status: 404, sessionId: 'ses_unknown' });
    expect(await loggedRequest(idOf(read))).toMatchObject({ status: 401, clientId: partner.clientId });
  });
});

it.each([
  ['a blocked user', 'access_denied', true],
  ['a wrong code_verifier', 'invalid_grant', false],
])('the log of requests names the session of a refused code: %s', async (_why, error, isBlocked) => {
  const verified = await verifyUser(server, partner, 'adult');
  const { enrollmentId = '', _id } = (await sessionOf(verified.code)) ?? {};
  if (isBlocked) await server.admin.enrollments.block.mutate({ enrollmentId, reason: 'a test' });
  const codeVerifier = isBlocked ? verified.codeVerifier : 'v'.repeat(43);
  const refused = await exchangeCode(server, partner, { ...verified, codeVerifier });
  expect(await loggedRequest(idOf(refused))).toMatchObject({ error, sessionId: _id });
  const { rows: found } = await server.admin.requests.list.query({ sessionId: _id ?? '', limit: 9 });
  expect(found.map(({ route }) => route)).toContain('/api/oauth/token');
  if (isBlocked) await server.admin.enrollments.unblock.mutate({ enrollmentId });
});

/** The session of a code. */
const sessionOf = (code: string) =>
  server.db
    .collection<{ _id: string; enrollmentId?: string }>('sessions')
    .findOne({ 'code.hash': sha256(code) });

it('the log of requests stores no request with an unknown path, session, client, API key or access token', async () => {
  const none = 'ses_0000000000000000000000';
  const answers = [
    await fetch(`${server.baseUrl}/nowhere`),
    await fetch(`${server.baseUrl}/verify/session/${none}`),
    await fetch(`${server.baseUrl}/verify/start?client_id=cli_0000000000000000000000`),
    await fetch(sessionUrl(none), { headers: bearer('svc_test_unknown') }),
    await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers: bearer('x.y.z') }),
    await post(tokenUrl(), { client_id: 'cli_0000000000000000000000' }),
  ];
  await settle();
  expect(await rows().countDocuments({ _id: { $in: answers.map(idOf) } })).toBe(0);
  expect(await rows().countDocuments()).toBeGreaterThan(0);
});

describe('secrets in the log of requests', () => {
  it('are masked if a request sends them as a session id or a client id', async () => {
    const path = await fetch(sessionUrl(partner.apiKey), { headers: bearer(partner.apiKey) });
    const { pathname } = new URL((await startedSession()).url);
    const swapped = await fetch(`${server.baseUrl}${pathname}`, {
      headers: basic(partner.clientSecret, partner.clientId),
    });
    expect(await loggedRequest(idOf(path))).toMatchObject({ sessionId: 'svc_test_…' });
    expect(await loggedRequest(idOf(swapped))).toMatchObject({ clientId: 'svc_secret_…' });
    const stored = JSON.stringify(await rows().find().toArray());
    for (const secret of [partner.apiKey, partner.clientSecret])
      expect(stored).not.toContain(secret.slice(12, 30));
  });

  it.each([
    ['svc_secret_abc', 'svc_secret_…'],
    ['svc%5Flive%5Fabc', 'svc_live_…'],
    ['code svc_code_x1-y sent', 'code svc_code_… sent'],
    ['eyJhbGciOi.eyJzdWIi.sig', 'eyJ…'],
    ['100%', '100%'],
    ['cli_1', 'cli_1'],
  ])('are masked: the text "%s" is logged as "%s"', (text, kept) => {
    expect(maskSecrets(text)).toBe(kept);
  });
});

/** Starts a session. Returns the request id and the URL of the redirect. */
async function startedSession() {
  const query = new URLSearchParams({
    client_id: partner.clientId,
    redirect_uri: 'http://localhost:9999/callback',
    state: 'x'.repeat(16),
    scope: 'age_18_plus',
    code_challenge: 'a'.repeat(43),
    code_challenge_method: 'S256',
  });
  const answer = await fetch(`${server.baseUrl}/verify/start?${query}`, { redirect: 'manual' });
  return { id: idOf(answer), url: answer.headers.get('location') ?? '' };
}

describe('IP addresses in the log of requests', () => {
  it.each([
    ['203.0.113.77', '203.0.113.0/24'],
    ['2001:db8:1:2:3::4', '2001:db8:1::/48'],
  ])('are stored without their last part: %s as %s', async (address, network) => {
    const headers = { ...bearer(partner.apiKey), 'x-forwarded-for': address };
    const answer = await fetch(sessionUrl('ses_1'), { headers });
    expect(await loggedRequest(idOf(answer))).toMatchObject({ address: network });
  });

  it('are deleted when the user of the session is erased, and the requests stay', async () => {
    await verifyUser(server, partner, 'teen');
    await settle();
    const session = await server.db.collection('sessions').findOne({}, { sort: { completedAt: -1 } });
    const ofSession = () =>
      rows()
        .find({ sessionId: String(session?._id) })
        .toArray();
    const before = await ofSession();
    expect(before.map((row) => row['route' as never])).toContain('/verify/start');
    expect(before.every(({ address }) => address !== undefined)).toBe(true);

    await server.admin.users.erase.mutate({ userId: session?.['userId'] });
    const after = await ofSession();
    expect(after).toHaveLength(before.length);
    expect(after.filter(({ address }) => address !== undefined)).toEqual([]);
    expect(await loggedRequest(after[0]?._id ?? '')).toMatchObject({ address: null });
  });
});

describe('the redirect URI in the log of requests', () => {
  const start = async (redirectUri: string) => {
    const query = new URLSearchParams({ client_id: partner.clientId, redirect_uri: redirectUri });
    const answer = await fetch(`${server.baseUrl}/verify/start?${query}`);
    expect(answer.status).toBe(400);
    return loggedRequest(idOf(answer));
  };

  it('is stored for a refused start, with personal data and secrets masked, without fragment and control characters', async () => {
    expect(await start('http://localhost:9999/callback/')).toMatchObject({
      redirectUri: 'http://localhost:9999/callback/',
    });
    const secret = `svc_secret_${'a'.repeat(20)}`;
    const sent = `https://kim:pw@shop.example/cb/${secret}?lang=de&mail=kim@home.example&c=${secret}#frag`;
    const kept = await start(sent);
    expect(kept?.redirectUri).toBe('https://…@shop.example/cb/svc_secret_…?lang=de&mail=…&c=…');
    expect((await start(`https://shop.example/${'x'.repeat(9_000)}`))?.redirectUri).toHaveLength(513);
    expect((await start('https://shop.example/\u001b[2J\u202e'))?.redirectUri).not.toMatch(/\p{Cc}|\p{Cf}/u);
  });

  it('is shown without its query to an operator of the role ops', async () => {
    const kept = await start('https://shop.example/cb?name=kim');
    const { token } = await server.admin.operators.create.mutate({ name: 'Robin', role: 'ops' });
    const ops = createAdminApi({ url: server.adminUrl, token });
    const { request } = await ops.requests.show.query({ requestId: kept?.id ?? '' });
    expect([kept?.redirectUri, request?.redirectUri]).toEqual([
      'https://shop.example/cb?name=kim',
      'https://shop.example/cb?…',
    ]);
  });

  it('is not stored for a start that is answered with 302', async () => {
    await verifyUser(server, partner, 'adult');
    await settle();
    const started = rows().find({ route: '/verify/start', status: 302 });
    for await (const row of started) expect(row).not.toHaveProperty('redirectUri');
    expect(await rows().countDocuments({ route: '/verify/start', status: 302 })).toBeGreaterThan(0);
  });
});
