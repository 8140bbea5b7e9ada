import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { soundLedger } from '../billing/ledger-snapshot.ts';
import { completeSession } from '../harness/completed-session.ts';
import { type Code, createPartner, exchangeCode, post, tokenForm } from '../harness/partner.ts';
import type { QuickResponse } from '../harness/quick-fetch.ts';
import { within } from '../harness/time-limits.ts';
import { startBehindProxy } from './behind-proxy.ts';

/** A billable endpoint answers within 5 s (interface 7.6 and docs/choices.md), if the machine is not busy. */
const soonEnough = within(5_000);

/** A server that reaches its database through a proxy, and a partner. */
async function startEnvironment() {
  const { database, proxy, server, stop } = await startBehindProxy();
  const partner = await createPartner(server, { client: { tokenRequestsPerMinute: 1_000_000 } });
  const limits = { partnerId: partner.partnerId, mode: 'test' as const, perMinute: 10_000, perHour: 10_000 };
  await server.admin.limits.set.mutate(limits);
  return {
    ...{ database, proxy, server, partner },
    verified: () => completeSession(server, partner),
    exchange: (of: Code) => timed(() => exchangeCode(server, partner, of)),
    get: (path: string, headers: Record<string, string> = {}) =>
      timed(() => fetch(`${server.baseUrl}${path}`, { headers, redirect: 'manual' })),
    ledger: () => soundLedger(database.db, `${partner.partnerId}:test`),
    stop,
  };
}
type Environment = Awaited<ReturnType<typeof startEnvironment>>;

interface Answer {
  status: number;
  retryAfter: string | null;
  ms: number;
  body: Record<string, string>;
}

async function timed(call: () => Promise<QuickResponse>): Promise<Answer> {
  const since = performance.now();
  const response = await call();
  const text = await response.text();
  return {
    status: response.status,
    retryAfter: response.headers.get('retry-after'),
    ms: performance.now() - since,
    body: text.startsWith('{') ? JSON.parse(text) : {},
  };
}

const environments = {} as Record<'cut' | 'hang', Environment>;
beforeAll(async () => {
  environments.cut = await startEnvironment();
  environments.hang = await startEnvironment();
});
afterAll(async () => {
  for (const environment of Object.values(environments)) await environment.stop();
});

// The cases run simultaneously with a server each, because most of their time is waiting.
describe.concurrent.each([
  ['that closes its connections', 'cut'],
  ['that no longer replies', 'hang'],
] as const)('a database %s', (_, how) => {
  it('makes exchange, userinfo, revocation, start and /readyz answer 503, and the session query 500, until it returns', async ({
    expect,
  }) => {
    const { database, proxy, server, partner, exchange, get, ledger, ...environment } = environments[how];
    const granted = async () => (await exchange(await environment.verified())).body['access_token'] ?? '';
    const [kept, ended] = [await granted(), await granted()];
    const waiting = await environment.verified();
    const session = await database.db.collection<{ _id: string }>('sessions').findOne();
    const before = await ledger();

    await proxy[how]();
    const { client_id, client_secret } = tokenForm(partner, waiting);
    const userinfo = (token: string) => get('/api/oauth/userinfo', { authorization: `Bearer ${token}` });
    const revoke = () =>
      timed(() => post(`${server.baseUrl}/api/oauth/revoke`, { token: ended, client_id, client_secret }));
    const start = new URL('/verify/start', server.baseUrl);
    start.search = new URLSearchParams({
      client_id: partner.clientId,
      redirect_uri: 'http://localhost:9999/callback',
      state: 's'.repeat(16),
      scope: 'country',
      code_challenge: 'c'.repeat(43),
      code_challenge_method: 'S256',
    }).toString();
    const [exchanged, claims, revoked, started, query, ready, alive, keys] = await Promise.all([
      exchange(waiting),
      userinfo(kept),
      revoke(),
      get(`${start.pathname}${start.search}`),
      get(`/api/verify/hvf-session/${session?._id}`, { authorization: `Bearer ${partner.apiKey}` }),
      get('/readyz'),
      get('/healthz'),
      get('/.well-known/jwks.json'),
    ]);
    for (const answer of [exchanged, claims, revoked]) {
      expect(answer).toMatchObject({ status: 503, retryAfter: '5', body: { error: 'service_unavailable' } });
    }
    expect(exchanged.ms).toBeLessThan(soonEnough);
    expect(started).toMatchObject({ status: 503, retryAfter: '5', body: { success: false } });
    // Interface 7.2 lists a 500 and no 503 here.
    expect(query).toMatchObject({
      status: 500,
      retryAfter: null,
      body: { success: false, error: 'Internal server error' },
    });
    expect(ready).toMatchObject({ status: 503, body: { ready: false, reasons: ['the database is away'] } });
    expect([alive.status, keys.status]).toEqual([200, 200]);

    await proxy.restore();
    await expect.poll(async () => (await exchange(waiting)).status, { timeout: within(15_000) }).toBe(200);
    const after = await ledger();
    expect(after.state.balance).toBe(before.state.balance - 50);
    // The result of the first revocation is unknown to its caller (RFC 7009 2.2.1); the second one is certain.
    expect((await revoke()).status).toBe(200);
    expect([(await userinfo(kept)).status, (await userinfo(ended)).status]).toEqual([200, 401]);
    expect((await get('/readyz')).status).toBe(200);
  });
});

describe('a database whose connections end during 30 code exchanges', () => {
  it('leaves every caller with an answer within 5 s, and every code with one charge after it was exchanged again', {
    timeout: within(90_000),
  }, async () => {
    const { proxy, exchange, ledger, ...environment } = environments.cut;
    const verifications = await Promise.all(Array.from({ length: 30 }, () => environment.verified()));
    const before = (await ledger()).state.balance;
    const underway = verifications.map(exchange);
    await Promise.any(underway);
    await proxy.cut();
    const answers = await Promise.all(underway);
    for (const { status, retryAfter, ms } of answers) {
      expect(ms).toBeLessThan(soonEnough);
      if (status !== 200) expect([status, retryAfter]).toEqual([503, '5']);
    }
    await proxy.restore();

    const tokens = new Set(answers.flatMap(({ body }) => body['access_token'] ?? []));
    for (const [n, each] of verifications.entries()) {
      if (answers[n]?.status === 200) continue;
      // The answer may have been lost after the commit; then the code names its charge.
      const settle = async () => {
        const { status, body } = await exchange(each);
        if (body['access_token']) tokens.add(body['access_token']);
        return status === 200 || /; charge txn_/.test(body['error_description'] ?? '');
      };
      await expect.poll(settle, { timeout: within(15_000) }).toBe(true);
    }
    const { state, charges } = await ledger();
    expect(state.balance).toBe(before - 30 * 50);
    expect(new Set(charges.map(({ grant }) => grant?.sessionId)).size).toBe(charges.length);
    expect(tokens.size).toBeGreaterThan(0);
  });
});
