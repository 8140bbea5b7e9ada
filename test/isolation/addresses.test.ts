import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createAuthentication } from '../../server/operations/operators/authentication.ts';
import { createPartner, type TestPartner, tokenForm } from '../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';

/** Wrong attempts of one address that are allowed in a minute (interface section 8 and docs/choices.md). */
const wrongSecrets = 20;
const wrongTokens = 10;
const walletAnswers = 60;

/** The origin of a request: a local address, and the address that its headers claim. */
interface Origin {
  from?: string;
  forwardedFor?: string;
}

function ask(
  url: string,
  { from = '127.0.0.1', forwardedFor }: Origin,
  { body, ...headers }: Record<string, string>,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const forwarded = forwardedFor ? { 'x-forwarded-for': forwardedFor } : {};
    const options = {
      method: body === undefined ? 'GET' : 'POST',
      localAddress: from,
      headers: { ...headers, ...forwarded },
    };
    const sent = request(url, options, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    sent.on('error', reject).end(body);
  });
}

describe.each([
  { trust: 'off', distinct: false },
  { trust: '127.0.0.1/32', distinct: true },
])('wrong credentials with SVC_TRUST_PROXY=$trust', ({ trust, distinct }) => {
  let server: TestServer;
  let partner: TestPartner;
  beforeAll(async () => {
    server = await startTestServer({ clock: manualClock(), env: { SVC_TRUST_PROXY: trust } });
    partner = await createPartner(server);
  });
  afterAll(() => server.stop());

  const exchange = (origin: Origin, secret: string, clientId = partner.clientId) =>
    ask(`${server.baseUrl.replace('localhost', '127.0.0.1')}/api/oauth/token`, origin, {
      'content-type': 'application/x-www-form-urlencoded',
      body: new URLSearchParams(
        tokenForm(
          { ...partner, clientId, clientSecret: secret },
          { code: 'svc_code_unknown', codeVerifier: 'v'.repeat(43) },
        ),
      ).toString(),
    });

  /** Sends `count` wrong secrets, and returns the statuses. `claims` returns the forwarded address of each, if any. */
  async function tries(origin: Origin, count: number, claims: (n: number) => string | undefined) {
    const statuses: number[] = [];
    for (let n = 0; n < count; n += 1) {
      const forwardedFor = claims(n);
      statuses.push(await exchange({ ...origin, ...(forwardedFor && { forwardedFor }) }, 'svc_secret_wrong'));
    }
    return statuses;
  }
  const refusedFrom = (limit: number, count: number) =>
    Array.from({ length: count }, (_, n) => (n < limit ? 401 : 429));

  it('get 429 after 20 in a minute from one address; X-Forwarded-For counts as the address only from a trusted proxy', async () => {
    // From a possible proxy address, with a different forwarded address each time.
    const rotating = await tries({}, wrongSecrets + 1, (n) => `192.0.2.${n}`);
    expect(rotating).toEqual(refusedFrom(distinct ? wrongSecrets + 1 : wrongSecrets, wrongSecrets + 1));
    const fixed = await tries({}, wrongSecrets + 2, () => '198.51.100.1');
    expect(fixed).toEqual(refusedFrom(distinct ? wrongSecrets : 0, wrongSecrets + 2));
    // The other address has a separate count for any header, because it is no proxy.
    const neighbour = await tries({ from: '127.0.0.2' }, wrongSecrets + 1, (n) => `198.51.100.${n}`);
    expect(neighbour).toEqual(refusedFrom(wrongSecrets, wrongSecrets + 1));
    // Another client has a separate count, and the right secret always passes.
    const other = await createPartner(server);
    const origin = { from: '127.0.0.2' };
    expect(await exchange(origin, 'svc_secret_wrong', other.clientId)).toBe(401);
    expect(await exchange(origin, partner.clientSecret)).toBe(400);
  });

  it('get 429 as operator tokens after 10 in a minute from one connection address, whatever X-Forwarded-For says', async () => {
    const whoami = (origin: Origin, token: string) =>
      ask(`${server.adminUrl}/trpc/operators.whoami`, origin, { authorization: `Bearer ${token}` });
    const statuses: number[] = [];
    for (let n = 0; n < wrongTokens + 2; n += 1)
      statuses.push(await whoami({ forwardedFor: `192.0.2.${n}` }, 'wrong'));
    expect(statuses).toEqual(refusedFrom(wrongTokens, wrongTokens + 2));
    expect(await whoami({ from: '127.0.0.2' }, 'wrong')).toBe(401);
    expect(await whoami({}, server.config.adminToken ?? '')).toBe(200);
  });

  // Only a trusted proxy can report an IPv6 address here.
  if (distinct) {
    it('are counted together for all addresses of an IPv6 /64 network, which then get 429', async () => {
      const other = await createPartner(server);
      const wrongFrom = (forwardedFor: string) =>
        exchange({ forwardedFor }, 'svc_secret_wrong', other.clientId);
      for (let n = 0; n < wrongSecrets; n += 1) expect(await wrongFrom(`2001:db8::${n}:1`)).toBe(401);
      expect(await wrongFrom('2001:db8::ffff:ffff:ffff:ffff')).toBe(429);
      expect(await wrongFrom('2001:db8:0:1::1')).toBe(401);
    });

    it('are counted separately from forms of the test identity wallet, which get 429 after 60 in a minute', async () => {
      const answerFrom = (forwardedFor: string) =>
        ask(
          `${server.baseUrl}/verify/test-wallet`,
          { forwardedFor },
          {
            'content-type': 'application/x-www-form-urlencoded',
            body: 'request=none&act=present',
          },
        );
      for (let n = 0; n < walletAnswers; n += 1) expect(await answerFrom(`2001:db8::${n}:1`)).toBe(400);
      expect(await answerFrom('2001:db8::ffff:ffff:ffff:ffff')).toBe(429);
      expect(await answerFrom('2001:db8:0:1::1')).toBe(400);
    });
  }
});

it('wrong operator tokens are counted together for a /64 network of IPv6 addresses', async () => {
  const authenticate = createAuthentication({
    store: { findByHash: async () => undefined, touch: async () => undefined },
    clock: manualClock(),
    firstToken: undefined,
    log: { warn: () => undefined },
    databaseFault: () => undefined,
  });
  const wrongFrom = (address: string) => authenticate('Bearer wrong', { address, path: 'status' });
  for (let n = 0; n < wrongTokens; n += 1)
    await expect(wrongFrom(`2001:db8::${n}:1`)).rejects.toMatchObject({ code: 'operator_unknown' });
  await expect(wrongFrom('2001:db8::ffff:1')).rejects.toMatchObject({ code: 'rate_limited' });
  await expect(wrongFrom('2001:db8:0:1::1')).rejects.toMatchObject({ code: 'operator_unknown' });
});
