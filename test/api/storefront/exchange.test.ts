import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { StorefrontResponse } from '../../../contracts/storefront.ts';
import { GeneralError } from '../../../contracts/verification.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode } from '../../harness/partner.ts';
import { type ManualClock, manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { call, createShop, fields, type Shop, sign } from './shop.ts';

/** Returns the code of a customer's completed session. */
const codeFor = async (at: TestServer, by: Shop, person?: string, scope = 'age_18_plus country') =>
  (await completeSession(at, by, person, scope)).code;

let server: TestServer;
let clock: ManualClock;
let shop: Shop;
beforeAll(async () => {
  // Starts ten seconds into a minute, so that the windows of the limits are known.
  clock = manualClock(Math.ceil(Date.now() / 3_600_000) * 3_600_000 + 10_000);
  server = await startTestServer({ clock });
  shop = await createShop(server);
});
afterAll(() => server.stop());

const send = (body: Record<string, unknown>, by: Shop = shop) => {
  const raw = JSON.stringify(body);
  return call(server, raw, sign(by, raw, clock.now()));
};
const balance = async ({ partnerId }: Pick<Shop, 'partnerId'> = shop) =>
  (await server.admin.wallets.show.query({ partnerId, mode: 'test' })).balance;
const nextMinute = () => clock.set(Math.ceil((clock.now() + 1) / 60_000) * 60_000);

async function expectRefusal(answer: Awaited<ReturnType<typeof call>>, status: number, message?: RegExp) {
  expect(answer.status).toBe(status);
  expect(answer.headers.get('cache-control')).toBe('no-store');
  expect(GeneralError.parse(answer.body).error).toMatch(message ?? /./);
}

describe('storefront exchange: 200', () => {
  it('returns claims, level and enrollment, and charges 50 cents', async () => {
    const before = await balance();
    const answer = await send(fields(await codeFor(server, shop)));
    expect(answer.status).toBe(200);
    expect(StorefrontResponse.parse(answer.body)).toEqual({
      verified: true,
      claims: { age_18_plus: true, country: 'DE' },
      verification_level: 'document',
      enrollment_id: expect.stringMatching(/^enr_/),
    });
    expect(await balance()).toBe(before - 50);
    const enrollmentId = StorefrontResponse.parse(answer.body).enrollment_id;
    const stored = await server.db.collection('enrollments').findOne({ _id: enrollmentId as never });
    expect(stored?.['customerHash']).toMatch(/^[\w-]{43}$/);
  });

  it('returns the same body to a repeated call with a new signature, without a charge', async () => {
    const body = fields(await codeFor(server, shop));
    const first = await send(body);
    const before = await balance();
    clock.advance(2000);
    const [second, third] = await Promise.all([send(body), send(body)]);
    expect([second.status, third.status]).toEqual([200, 200]);
    expect([second.body, third.body]).toEqual([first.body, first.body]);
    expect(await balance()).toBe(before);
  });

  it('returns the same body to a repeated call, even if the enrollment was blocked after the first call', async () => {
    const body = fields(await codeFor(server, shop));
    const first = await send(body);
    const enrollmentId = StorefrontResponse.parse(first.body).enrollment_id;
    await server.admin.enrollments.block.mutate({ enrollmentId, reason: 'fraud' });
    const again = await send(body);
    expect({ status: again.status, body: again.body }).toEqual({ status: 200, body: first.body });
    await server.admin.enrollments.unblock.mutate({ enrollmentId });
  });

  it('returns one body to eight simultaneous copies of a call, and charges once', async () => {
    nextMinute();
    const before = await balance();
    const body = fields(await codeFor(server, shop));
    const answers = await Promise.all(Array.from({ length: 8 }, () => send(body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(new Set(answers.map((answer) => JSON.stringify(answer.body))).size).toBe(1);
    expect(await balance()).toBe(before - 50);
  });

  it('accepts any shop of the integration, in any letter case', async () => {
    const body = fields(await codeFor(server, shop), { shop_domain: 'Spirits.Example' });
    expect((await send(body)).status).toBe(200);
  });

  it('sends no event vae.resolved, even for a returning user', async () => {
    await send(fields(await codeFor(server, shop)));
    await server.sweep();
    expect(await server.db.collection('events').countDocuments({ type: 'vae.resolved' })).toBe(0);
  });
});

describe('storefront exchange: 400', () => {
  it('refuses a body that is not JSON, or has another content type', async () => {
    const headers = sign(shop, '{', clock.now());
    await expectRefusal(await call(server, '{', headers), 400, /JSON/);
    await expectRefusal(
      await call(server, '{', { ...headers, 'content-type': 'text/plain' }),
      400,
      /Content-Type/,
    );
  });
});

describe('the texts of storefront errors', () => {
  const elsewhere = /form\b|urlencoded|token|client_secret|credential/i;

  it('mention JSON and fields in a 400, not forms and tokens', async () => {
    const bodies: [body: string, text: RegExp][] = [
      ['[]', /^The request body must be a JSON object$/],
      ['null', /^The request body must be a JSON object$/],
      ['"x"', /^The request body must be a JSON object$/],
      ['{', /^The request body is not valid JSON$/],
      ['{}', /^code is required$/],
      ['{"code":["x"]}', /^code must be of type string$/],
    ];
    for (const [raw, text] of bodies) {
      const answer = await call(server, raw, sign(shop, raw, clock.now()));
      await expectRefusal(answer, 400, text);
      expect(answer.body['error']).not.toMatch(elsewhere);
    }
    const large = 'x'.repeat(65 * 1024);
    const answer = await call(server, large, sign(shop, large, clock.now()));
    await expectRefusal(answer, 400, /^The request body is larger than 64 KiB$/);
  });

  it('say in a 402 that the shop did not get the claims', async () => {
    const poor = await createShop(server, { funds: 0 });
    const answers = [
      await send(fields(await codeFor(server, poor)), poor),
      await send(fields(await codeFor(server, shop, 'low-balance'))),
    ];
    for (const answer of answers) {
      const text = /^Insufficient wallet balance; no claims were released and nothing was debited$/;
      await expectRefusal(answer, 402, text);
    }
  });
});

describe('storefront exchange: 401', () => {
  it.each(['x-svc-integration-id', 'x-svc-timestamp', 'x-svc-signature'])(
    'names %s in the refusal if it is given twice',
    async (name) => {
      const raw = JSON.stringify(fields('svc_code_x'));
      const headers = sign(shop, raw, clock.now());
      const twice = { ...headers, [name]: `${headers[name]}, ${headers[name]}` };
      await expectRefusal(await call(server, raw, twice), 401, new RegExp(`: ${name} must be given once$`));
    },
  );

  it.each(['x-svc-integration-id', 'x-svc-timestamp', 'x-svc-signature'])(
    'refuses a request without %s',
    async (name) => {
      const raw = JSON.stringify(fields('svc_code_x'));
      const headers = { ...sign(shop, raw, clock.now()), [name]: undefined };
      await expectRefusal(await call(server, raw, headers), 401, new RegExp(name));
    },
  );

  it('is the answer for a signature of another body or timestamp, in capitals, or of an unknown integration', async () => {
    const raw = JSON.stringify(fields('svc_code_x'));
    const headers = sign(shop, raw, clock.now());
    await expectRefusal(await call(server, `${raw} `, headers), 401, /^Invalid signature/);
    const upper = headers['x-svc-signature']?.replace(/[0-9a-f]{64}/, (hex) => hex.toUpperCase());
    await expectRefusal(await call(server, raw, { ...headers, 'x-svc-signature': upper }), 401, /lowercase/);
    const unknown = { ...headers, 'x-svc-integration-id': 'int_0000000000000000000000' };
    await expectRefusal(await call(server, raw, unknown), 401, /^Invalid signature/);
    const later = { ...headers, 'x-svc-timestamp': String(Number(headers['x-svc-timestamp']) + 1) };
    await expectRefusal(await call(server, raw, later), 401, /^Invalid signature/);
  });

  it('refuses a timestamp more than 300 seconds off in either direction, but accepts exactly 300', async () => {
    const raw = JSON.stringify(fields('svc_code_x'));
    const at = (seconds: number) => call(server, raw, sign(shop, raw, clock.now() + seconds * 1000));
    for (const seconds of [-301, 301]) await expectRefusal(await at(seconds), 401, /Timestamp/);
    for (const seconds of [-300, 300]) await expectRefusal(await at(seconds), 404);
  });

  it('refuses the old secret after a rotation without keepOldSeconds', async () => {
    const own = await createShop(server);
    const { integrationSecret } = await server.admin.integrations.rotateSecret.mutate({
      integrationId: own.integrationId,
    });
    await expectRefusal(await send(fields('svc_code_x'), own), 401);
    await expectRefusal(await send(fields('svc_code_x'), { ...own, integrationSecret }), 404);
  });

  it('is the answer for a suspended partner, a disabled client or integration, and a revoked key', async () => {
    const inactive = /not active/;
    const { admin } = server;
    const [one, two] = [await createShop(server), await createShop(server)];
    const { partnerId, clientId, keyId } = one;
    const ask = (by: Shop) => send(fields('svc_code_x'), by);
    await admin.partners.suspend.mutate({ partnerId });
    await expectRefusal(await ask(one), 401, inactive);
    await admin.partners.activate.mutate({ partnerId });
    await expectRefusal(await ask(one), 404);
    await admin.clients.disable.mutate({ clientId });
    await expectRefusal(await ask(one), 401, inactive);
    await admin.clients.enable.mutate({ clientId });
    await expectRefusal(await ask(one), 404);
    await admin.keys.revoke.mutate({ keyId });
    await expectRefusal(await ask(one), 401, inactive);
    await admin.integrations.disable.mutate({ integrationId: two.integrationId });
    await expectRefusal(await ask(two), 401, inactive);
  });
});

describe('storefront exchange after a change in another process', () => {
  let own: Shop;
  beforeAll(async () => {
    own = await createShop(server);
  });

  /** Changes the database as another process would, without a notice to this process. */
  const change = (collection: string, id: string, set: Record<string, unknown>) =>
    server.db.collection(collection).updateOne({ _id: id as never }, { $set: set });

  it('returns only the claims that the client is allowed at the time of the exchange', async () => {
    const codes = [await codeFor(server, own), await codeFor(server, own), await codeFor(server, own)];
    const claims = async (code = '') => (await send(fields(code), own)).body['claims'];
    expect(await claims(codes[0])).toEqual({ age_18_plus: true, country: 'DE' });
    await change('clients', own.clientId, { claims: ['age_18_plus'] });
    expect(await claims(codes[1])).toEqual({ age_18_plus: true });
    await change('clients', own.clientId, { claims: ['age_18_plus', 'country'] });
    expect(await claims(codes[2])).toEqual({ age_18_plus: true, country: 'DE' });
  });

  it.each([
    ['clients', 'clientId', { status: 'disabled' }],
    ['partners', 'partnerId', { status: 'suspended' }],
    ['apiKeys', 'keyId', { status: 'revoked' }],
    ['integrations', 'integrationId', { status: 'disabled' }],
  ] as const)(
    "answers 401 while the shop's record in the collection %s is inactive, and 200 afterwards",
    async (collection, name, status) => {
      expect((await send(fields(await codeFor(server, own)), own)).status).toBe(200);
      const code = await codeFor(server, own);
      const { matchedCount } = await change(collection, own[name], status);
      expect(matchedCount).toBe(1);
      await expectRefusal(await send(fields(code), own), 401, /not active/);
      await change(collection, own[name], { status: 'active' });
      expect((await send(fields(code), own)).status).toBe(200);
    },
  );
});

describe('storefront exchange: 404', () => {
  it('is the answer for a shop that the integration does not list', async () => {
    const code = await codeFor(server, shop);
    await expectRefusal(await send(fields(code, { shop_domain: 'other.example' })), 404, /Shop/);
  });

  it('is the answer for a used code with another body, or from another integration of the same client', async () => {
    const body = fields(await codeFor(server, shop));
    expect((await send(body)).status).toBe(200);
    await expectRefusal(await send({ ...body, customer_id: 'another' }), 404, /code/);
    const { id, integrationSecret } = await server.admin.integrations.create.mutate({
      partnerId: shop.partnerId,
      clientId: shop.clientId,
      shops: ['wine.example'],
    });
    await expectRefusal(await send(body, { ...shop, integrationId: id, integrationSecret }), 404, /code/);
  });

  it('is the answer for an expired code, even if it was used before', async () => {
    const [used, unused] = [fields(await codeFor(server, shop)), fields(await codeFor(server, shop))];
    expect((await send(used)).status).toBe(200);
    clock.advance(10 * 60_000);
    await expectRefusal(await send(used), 404, /code/);
    await expectRefusal(await send(unused), 404, /code/);
  });

  it('is the answer for a code of another storefront client or an OAuth client; the token endpoint refuses a storefront code', async () => {
    const other = await createShop(server);
    await expectRefusal(await send(fields(await codeFor(server, other))), 404, /code/);
    const oauth = await createPartner(server);
    await expectRefusal(await send(fields((await completeSession(server, oauth)).code)), 404, /code/);
    const own = await completeSession(server, shop, 'adult', 'age_18_plus');
    const token = await exchangeCode(server, shop, own);
    expect(token.status).toBe(400);
    expect(await token.json()).toMatchObject({ error: 'invalid_grant' });
    expect((await send(fields(own.code))).status).toBe(200);
  });
});

describe('storefront exchange: 422', () => {
  it('is the answer for a code without a positive claim, each time and without a charge', async () => {
    const before = await balance();
    const body = fields(await codeFor(server, shop, 'teen', 'age_18_plus age_21_plus'));
    await expectRefusal(await send(body), 422, /no positive claim/);
    await expectRefusal(await send(body), 422, /no positive claim/);
    expect(await balance()).toBe(before);
  });

  it('is the answer for a blocked enrollment, without a charge; after an unblock, the code can be exchanged', async () => {
    const own = await createShop(server);
    const body = fields(await codeFor(server, own, 'duplicate'));
    await expectRefusal(await send(body, own), 422, /blocked/);
    expect(await balance(own)).toBe(10_000);
    const [enrollment] = await server.admin.enrollments.list.query({ partnerId: own.partnerId });
    await server.admin.enrollments.unblock.mutate({ enrollmentId: enrollment?.id ?? '' });
    const answer = await send(body, own);
    expect(answer.body).toMatchObject({ verified: true, verification_level: 'biometric' });
  });
});

describe('a refused storefront exchange', () => {
  it.each([
    [402, 'low-balance', /balance/],
    [429, 'minute-cap', /minute bucket/],
    [429, 'hour-cap', /hour bucket/],
    [503, 'unavailable', /./],
  ] as const)(
    'gets %i, and again at its repetition, for a code of the sandbox user %s',
    async (status, person, message) => {
      const body = fields(await codeFor(server, shop, person));
      const answer = await send(body);
      await expectRefusal(answer, status, message);
      expect(answer.headers.has('retry-after')).toBe(status !== 402);
      expect((await send(body)).status).toBe(status);
    },
  );

  it('gets 402 while the wallet is empty, and 200 for the same code after a funding', async () => {
    const poor = await createShop(server, { funds: 0 });
    const body = fields(await codeFor(server, poor));
    await expectRefusal(await send(body, poor), 402);
    const { partnerId } = poor;
    await server.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 5000, reference: 'first' });
    expect((await send(body, poor)).status).toBe(200);
  });

  it('gets 429 after 60 signed calls of its integration in a minute; calls with a wrong signature do not count', async () => {
    const busy = await createShop(server);
    nextMinute();
    const unsigned = sign(busy, 'other bytes', clock.now());
    await Promise.all(Array.from({ length: 61 }, () => call(server, '{}', unsigned)));
    const answers = await Promise.all(Array.from({ length: 60 }, () => send({}, busy)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([400]));
    clock.advance(15_000);
    const over = await send({}, busy);
    await expectRefusal(over, 429, /^Integration rate limit exceeded$/);
    expect(over.headers.get('retry-after')).toBe('45');
    nextMinute();
    expect((await send({}, busy)).status).toBe(400);
  });
});
