import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { call, codeFor, createShop, fields, sign } from '../api/storefront/shop.ts';
import { soundLedger } from '../billing/ledger-snapshot.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, post, type TestPartner, tokenForm } from '../harness/partner.ts';
import { adminToken, refusal, startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { type Refusal, startRefusingProxy } from './refusing-proxy.ts';

let proxy: Awaited<ReturnType<typeof startRefusingProxy>>;
let server: TestServer;
let partner: TestPartner;

beforeAll(async () => {
  const { port } = new URL(inject('mongodbUri'));
  proxy = await startRefusingProxy(Number(port));
  const through = (uri: string) => {
    const url = new URL(uri);
    url.port = String(proxy.port);
    url.searchParams.set('directConnection', 'true');
    return url.href;
  };
  server = await startTestServer({
    through,
    replacements: { pace: { resendWithin: 150, writesTestedEvery: 200 } },
  });
  partner = await createPartner(server, { client: { tokenRequestsPerMinute: 1_000_000 } });
});
afterEach(() => proxy.refuse());
afterAll(async () => {
  await server.stop();
  proxy.stop();
});

const exchange = async (of: { code: string; codeVerifier: string }) => {
  const response = await exchangeCode(server, partner, of);
  const body = (await response.json()) as { error?: string; error_description?: string };
  return { status: response.status, retryAfter: response.headers.get('retry-after'), body };
};
const ledger = () => soundLedger(server.db, `${partner.partnerId}:test`);
const unavailable = { status: 503, retryAfter: '5', body: { error: 'service_unavailable' } };

/** Errors with which a database refuses writes until an operator acts. */
const refusals: [number, string][] = [
  [13, 'Unauthorized'],
  [18, 'AuthenticationFailed'],
  [20, 'IllegalOperation'],
  [371, 'UserWritesBlocked'],
  [8_000, 'AtlasError'],
  [14_031, 'OutOfDiskSpace'],
];
const ways = ['command', 'document'] as const;
const cases = refusals.flatMap(([code, codeName]) =>
  ways.map((by): [by: Refusal['by'], codeName: string, code: number] => [by, codeName, code]),
);

const ofLedger = (command: Record<string, unknown>) => command['insert'] === 'ledger';

/** A database refuses a whole command, or single documents in an otherwise successful reply. */
describe('a code exchange whose charge the database refuses', () => {
  it.each(cases)(
    'gets 503 without a charge, and later succeeds, if the %s of the insert fails with %s (%i)',
    async (by, codeName, code) => {
      const verified = await completeSession(server, partner);
      const before = await ledger();
      proxy.refuse({ by, codeName, code, on: ofLedger });
      expect(await exchange(verified)).toMatchObject(unavailable);
      expect(proxy.refused.length).toBeGreaterThan(0);
      proxy.refuse();
      expect((await ledger()).charges).toHaveLength(before.charges.length);
      expect((await exchange(verified)).status).toBe(200);
      const after = await ledger();
      expect(after.charges).toHaveLength(before.charges.length + 1);
      expect(after.state.balance).toBe(before.state.balance - 50);
    },
  );

  it('repeats the insert only if the error leaves open whether the charge was written', async () => {
    proxy.refuse({ code: 13, codeName: 'Unauthorized', by: 'command', on: ofLedger });
    await exchange(await completeSession(server, partner));
    expect(proxy.refused).toHaveLength(1);
    proxy.refuse({ code: 14_031, codeName: 'OutOfDiskSpace', by: 'document', on: ofLedger });
    await exchange(await completeSession(server, partner));
    expect(proxy.refused).toHaveLength(1);
    proxy.refuse({ code: 14_031, codeName: 'OutOfDiskSpace', by: 'command', on: ofLedger });
    await exchange(await completeSession(server, partner));
    expect(proxy.refused.length).toBeGreaterThan(1);
  });

  it.each(ways)(
    'gets 503, and later 400 with the charge, if the insert succeeds but each reply is a %s error',
    async (by) => {
      const lost: Refusal = { code: 6, codeName: 'HostUnreachable', by, carriedOut: true, on: ofLedger };
      const verified = await completeSession(server, partner);
      const before = await ledger();
      proxy.refuse(lost);
      const answer = await exchange(verified);
      proxy.refuse();
      expect(answer).toMatchObject(unavailable);
      expect((await ledger()).charges).toHaveLength(before.charges.length + 1);
      const again = await exchange(verified);
      expect(again.status).toBe(400);
      expect(again.body.error_description).toMatch(/already used at \S+; charge txn_/);
      expect((await ledger()).charges).toHaveLength(before.charges.length + 1);
    },
  );

  it.each(ways)(
    'gets a token and makes one charge if the insert succeeds but its first reply is a %s error',
    async (by) => {
      let inserts = 0;
      const isFirst = (command: Record<string, unknown>) => ofLedger(command) && ++inserts === 1;
      const verified = await completeSession(server, partner);
      const before = await ledger();
      proxy.refuse({ code: 6, codeName: 'HostUnreachable', by, carriedOut: true, on: isFirst });
      expect((await exchange(verified)).status).toBe(200);
      expect((await ledger()).charges).toHaveLength(before.charges.length + 1);
    },
  );

  it('gets 503, and later 400 with the charge, if the first reply is lost and the second insert refused', async () => {
    let inserts = 0;
    const isFirst = (command: Record<string, unknown>) => ofLedger(command) && ++inserts === 1;
    const verified = await completeSession(server, partner);
    const before = await ledger();
    proxy.refuse(
      { code: 6, codeName: 'HostUnreachable', by: 'command', carriedOut: true, on: isFirst },
      { code: 13, codeName: 'Unauthorized', by: 'document', on: ofLedger },
    );
    expect(await exchange(verified)).toMatchObject(unavailable);
    proxy.refuse();
    expect((await exchange(verified)).body.error_description).toMatch(/already used at \S+; charge txn_/);
    expect((await ledger()).charges).toHaveLength(before.charges.length + 1);
  });
});

describe('a database that refuses every write', () => {
  const refused: Refusal = { code: 13, codeName: 'Unauthorized', by: 'command' };

  it.each(ways)(
    'makes every endpoint that writes answer 503 with Retry-After if the refusal is a %s error',
    async (by) => {
      const verified = await completeSession(server, partner);
      const granted = await (
        await exchangeCode(server, partner, await completeSession(server, partner))
      ).json();
      const { access_token: token } = granted as { access_token: string };
      const shop = await createShop(server);
      const body = JSON.stringify(fields(await codeFor(server, shop)));
      const [enrollment] = await server.admin.enrollments.list.query({ partnerId: partner.partnerId });
      proxy.refuse({ ...refused, by });

      const { client_id, client_secret } = tokenForm(partner, verified);
      const start = new URL('/verify/start', server.baseUrl);
      start.search = new URLSearchParams({
        client_id: partner.clientId,
        redirect_uri: 'http://localhost:9999/callback',
        state: 's'.repeat(16),
        scope: 'country',
        code_challenge: 'c'.repeat(43),
        code_challenge_method: 'S256',
      }).toString();
      const resolve = () =>
        fetch(`${server.baseUrl}/api/checkbox/resolve`, {
          method: 'POST',
          headers: {
            authorization: `Bearer ${partner.apiKey}`,
            'idempotency-key': 'one',
            'content-type': 'application/json',
          },
          body: JSON.stringify({ enrollment_id: enrollment?.id, claims: ['age_18_plus'] }),
        });
      const headers = { authorization: `Bearer ${token}` };
      const answers = await Promise.all([
        exchangeCode(server, partner, verified),
        fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers }),
        post(`${server.baseUrl}/api/oauth/revoke`, { token, client_id, client_secret }),
        fetch(start, { redirect: 'manual' }),
        call(server, body, sign(shop, body, Date.now())),
        resolve(),
      ]);
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
      expect(answers.map((answer) => answer.headers.get('retry-after'))).toEqual(answers.map(() => '5'));
      expect(await refusal(server.admin.partners.create.mutate({ name: 'Late' }))).toBe(
        'service_unavailable',
      );
      expect((await fetch(`${server.baseUrl}/.well-known/jwks.json`)).status).toBe(200);

      proxy.refuse();
      expect((await exchange(verified)).status).toBe(200);
    },
  );

  it.each(ways)(
    'makes /readyz answer 503 with a reason until writes succeed again if the refusal is a %s error',
    async (by) => {
      const ready = async () => {
        const response = await fetch(`${server.baseUrl}/readyz`);
        return { status: response.status, body: await response.json() };
      };
      await expect
        .poll(ready, { timeout: within(10_000) })
        .toEqual({ status: 200, body: { ready: true, reasons: [] } });
      proxy.refuse({ ...refused, by });
      await expect.poll(ready, { timeout: within(10_000) }).toEqual({
        status: 503,
        body: { ready: false, reasons: ['the database takes no writes: Unauthorized (13)'] },
      });
      expect((await fetch(`${server.baseUrl}/healthz`)).status).toBe(200);
      const headers = { authorization: `Bearer ${adminToken}` };
      const metrics = await (await fetch(`${server.adminUrl}/metrics`, { headers })).text();
      expect(metrics).toMatch(/^svc_ready\{reason="writes"\} 0$/m);
      expect(metrics).toMatch(/^svc_ready\{reason="database"\} 1$/m);
      proxy.refuse();
      await expect
        .poll(ready, { timeout: within(10_000) })
        .toEqual({ status: 200, body: { ready: true, reasons: [] } });
    },
  );
});
