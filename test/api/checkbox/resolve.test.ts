import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CheckboxResponse } from '../../../contracts/checkbox.ts';
import { GeneralError } from '../../../contracts/verification.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { type ManualClock, manualClock, startTestServer, type TestServer } from '../../harness/server.ts';

const day = 86_400_000;
let server: TestServer;
let clock: ManualClock;
let partner: TestPartner;
let enrollmentId: string;
beforeAll(async () => {
  clock = manualClock();
  server = await startTestServer({ clock });
  partner = await createPartner(server);
  enrollmentId = await enroll('adult', 'age_18_plus country');
});
afterAll(() => server.stop());

/** Verifies a user. @returns the id of the new enrollment */
async function enroll(person: string, scope: string, by: TestPartner = partner): Promise<string> {
  await completeSession(server, by, person, scope);
  const [newest] = await server.admin.enrollments.list.query({ partnerId: by.partnerId, limit: 1 });
  return newest?.id ?? '';
}

async function resolve(body: unknown, headers: Record<string, string> = {}, apiKey = partner.apiKey) {
  const response = await fetch(`${server.baseUrl}/api/checkbox/resolve`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'idempotency-key': randomUUID(),
      'content-type': 'application/json',
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const answer: unknown = await response.json();
  expect(response.headers.get('cache-control')).toBe('no-store');
  if (response.status === 200) CheckboxResponse.parse(answer);
  else GeneralError.parse(answer);
  return { status: response.status, headers: response.headers, body: answer };
}

const ask = (...claims: string[]) => ({ enrollment_id: enrollmentId, claims });
const balance = async ({ partnerId }: TestPartner = partner) =>
  (await server.admin.wallets.show.query({ partnerId, mode: 'test' })).balance;

describe('POST /api/checkbox/resolve', () => {
  it('returns the consented claims, ignores others, and charges 50 cents', async () => {
    const balanceBefore = await balance();
    const answer = await resolve(ask('country', 'age_18_plus', 'identity_verified', 'shoe_size'));
    expect(answer.status).toBe(200);
    const [enrollment] = await server.admin.enrollments.list.query({ partnerId: partner.partnerId });
    expect(answer.body).toEqual({
      success: true,
      sub: enrollment?.sub,
      evaluated_at: new Date(clock.now()).toISOString(),
      claims: { country: 'DE', age_18_plus: true },
      meta: {
        claims_requested: ['country', 'age_18_plus', 'identity_verified', 'shoe_size'],
        claims_resolved: ['country', 'age_18_plus'],
        claims_null: [],
        claims_ignored: ['identity_verified', 'shoe_size'],
      },
    });
    expect(await balance()).toBe(balanceBefore - 50);
  });

  it('returns a claim whose value is null, and lists it in claims_null', async () => {
    const own = await createPartner(server);
    const id = await enroll('unknown-country', 'country', own);
    const answer = await resolve({ enrollment_id: id, claims: ['country'] }, {}, own.apiKey);
    expect(answer.body).toMatchObject({ claims: { country: null }, meta: { claims_null: ['country'] } });
  });

  it('repeats its answer for the same idempotency key and body for 24 hours, without a charge', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const body = ask('age_18_plus');
    const copies = await Promise.all(Array.from({ length: 5 }, () => resolve(body, headers)));
    const balanceBefore = await balance();
    clock.advance(day - 1000);
    copies.push(await resolve(body, headers));
    expect(new Set(copies.map((copy) => JSON.stringify(copy.body))).size).toBe(1);
    expect(await balance()).toBe(balanceBefore);
    clock.advance(1000);
    expect(await resolve(body, headers)).toMatchObject({
      status: 422,
      body: { error: expect.stringMatching(/24 hours/) },
    });
  });

  it('returns the stored answer for a repeated idempotency key, even if the enrollment has been blocked since', async () => {
    const own = await createPartner(server);
    const id = await enroll('adult', 'country', own);
    const headers = { 'idempotency-key': randomUUID() };
    const body = { enrollment_id: id, claims: ['country'] };
    const first = await resolve(body, headers, own.apiKey);
    await server.admin.enrollments.block.mutate({ enrollmentId: id, reason: 'fraud' });
    expect((await resolve(body, {}, own.apiKey)).status).toBe(403);
    expect(await resolve(body, headers, own.apiKey)).toMatchObject({ status: 200, body: first.body });
  });
});

describe('the refusal of POST /api/checkbox/resolve', () => {
  it('is 400 without an Idempotency-Key, an enrollment or claims', async () => {
    expect((await resolve(ask('country'), { 'idempotency-key': '' })).status).toBe(400);
    for (const body of [{}, { enrollment_id: enrollmentId }, { ...ask(), claims: 'country' }, ask()])
      expect((await resolve(body)).status).toBe(400);
  });

  it('is 400 for a body or content type other than a JSON object, and names what is expected', async () => {
    const send = async (body: string, type: string) => {
      const response = await fetch(`${server.baseUrl}/api/checkbox/resolve`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${partner.apiKey}`,
          'idempotency-key': 'k',
          'content-type': type,
        },
        body,
      });
      return { status: response.status, body: (await response.json()) as unknown };
    };
    const refused = (error: string) => ({ status: 400, body: { success: false, error } });
    const json = 'application/json';
    expect(await send('[]', json)).toEqual(refused('The request body must be a JSON object'));
    const form = await send('claims=country', 'application/x-www-form-urlencoded');
    expect(form).toEqual(refused('Content-Type must be application/json'));
  });

  it('is 401 for an invalid API key, before the body is checked', async () => {
    expect((await resolve({}, {}, 'svc_test_none')).body).toEqual({
      success: false,
      error: 'The bearer token fails its checksum: it is mistyped or cut',
    });
    expect((await resolve({}, { authorization: 'Basic x' })).status).toBe(401);
  });

  it('is 403 for a blocked enrollment, and for a disabled client', async () => {
    const own = await createPartner(server);
    const id = await enroll('adult', 'country', own);
    const body = { enrollment_id: id, claims: ['country'] };
    await server.admin.enrollments.block.mutate({ enrollmentId: id, reason: 'fraud' });
    expect((await resolve(body, {}, own.apiKey)).status).toBe(403);
    await server.admin.enrollments.unblock.mutate({ enrollmentId: id });
    await server.admin.clients.disable.mutate({ clientId: own.clientId });
    expect((await resolve(body, {}, own.apiKey)).status).toBe(403);
  });

  it('is 404 for an unknown enrollment, and for the enrollment of another API key', async () => {
    expect((await resolve({ ...ask('country'), enrollment_id: 'enr_x' })).status).toBe(404);
    const other = await createPartner(server);
    expect((await resolve(ask('country'), {}, other.apiKey)).status).toBe(404);
  });

  it('is 422 if no requested claim is consented and fresh, or if the idempotency key had another body', async () => {
    const balanceBefore = await balance();
    expect((await resolve(ask('identity_verified'))).status).toBe(422);
    expect(await balance()).toBe(balanceBefore);
    const headers = { 'idempotency-key': randomUUID() };
    expect((await resolve(ask('country'), headers)).status).toBe(200);
    expect((await resolve(ask('age_18_plus'), headers)).status).toBe(422);
    clock.advance(365 * day);
    expect((await resolve(ask('country'))).body).toMatchObject({ error: expect.stringMatching(/fresh/) });
  });

  it.each([
    [402, 'low-balance'],
    [429, 'minute-cap'],
    [429, 'hour-cap'],
    [503, 'unavailable'],
  ] as const)(
    'is %i for the enrollment of the sandbox user %s, and nothing is charged',
    async (status, person) => {
      const own = await createPartner(server);
      const id = await enroll(person, 'country', own);
      const answer = await resolve({ enrollment_id: id, claims: ['country'] }, {}, own.apiKey);
      expect(answer.status).toBe(status);
      expect(answer.headers.has('retry-after')).toBe(status !== 402);
      expect(await balance(own)).toBe(10_000);
    },
  );
});

it('a checkbox charge counts against the same spend caps as a token exchange', async () => {
  const own = await createPartner(server);
  const { partnerId } = own;
  await server.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 1 });
  const code = await completeSession(server, own, 'adult', 'country');
  expect((await exchangeCode(server, own, code)).status).toBe(200);
  const [enrollment] = await server.admin.enrollments.list.query({ partnerId });
  const body = { enrollment_id: enrollment?.id, claims: ['country'] };
  const answer = await resolve(body, {}, own.apiKey);
  expect(answer).toMatchObject({ status: 429, body: { error: 'Spend limit exceeded: minute bucket' } });
});
