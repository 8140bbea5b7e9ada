import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, codeFor, createShop, fields, type Shop, sign } from '../api/storefront/shop.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createBankPartner, startWithBank, verifyAtBank } from '../harness/openid.ts';
import { createPartner, exchangeCode, redirectUri, type TestPartner } from '../harness/partner.ts';
import { manualClock } from '../harness/server.ts';

/** These tests use two records of each kind, because with one record a constant identifier would pass. */
const clock = manualClock();
let server: Awaited<ReturnType<typeof startWithBank>>;
beforeAll(async () => {
  server = await startWithBank({ clock });
});
afterAll(() => server.stop());

const userinfo = (token: string) =>
  fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } });

/** Exchanges the code of a session. @returns token, subject, claims and session */
async function exchanged(partner: TestPartner, verified: Awaited<ReturnType<typeof verifyAtBank>>) {
  const answer = await exchangeCode(server, partner, verified);
  const { access_token: token } = (await answer.json()) as { access_token: string };
  const { sub, claims } = (await (await userinfo(token)).json()) as { sub: string; claims: unknown };
  return { token, sub, claims, sessionId: verified.sessionId };
}
const exchangedAtBank = async (partner: TestPartner, person?: string) =>
  exchanged(partner, await verifyAtBank(server, { clientId: partner.clientId, redirectUri }, person));
const exchangedInSandbox = async (partner: TestPartner, person?: string) =>
  exchanged(partner, await completeSession(server, partner, person, 'age_18_plus country'));

async function bodiesOf({ partnerId }: TestPartner, count: number): Promise<Record<string, unknown>[]> {
  const list = () => server.admin.events.list.query({ partnerId });
  await expect.poll(async () => (await list()).length).toBe(count);
  const shown = (await list()).map(({ id }) => server.admin.events.show.query({ eventId: id }));
  return (await Promise.all(shown)).map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

const enrollmentOf = async ({ partnerId }: TestPartner): Promise<string> =>
  (await server.admin.enrollments.list.query({ partnerId, limit: 1 }))[0]?.id ?? '';

/** Sends `POST /api/checkbox/resolve`, and returns the answer. */
async function resolve(apiKey: string, idempotencyKey: string, fields: Record<string, unknown>) {
  const answer = await fetch(`${server.baseUrl}/api/checkbox/resolve`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${apiKey}`,
      'idempotency-key': idempotencyKey,
      'content-type': 'application/json',
    },
    body: JSON.stringify(fields),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const balance = async ({ partnerId }: TestPartner) =>
  (await server.admin.wallets.show.query({ partnerId, mode: 'test' })).balance;

describe('one user of one source at two partners', () => {
  it('has one subject for each partner, and an erasure removes the user at both partners', async () => {
    const [one, other] = [await createBankPartner(server), await createBankPartner(server)];
    const atOne = await exchangedAtBank(one);
    const atOther = await exchangedAtBank(other);
    const again = await exchangedAtBank(other);
    const neighbour = await exchangedAtBank(one, 'teen');
    expect(atOne.sub).not.toBe(atOther.sub);
    expect(again.sub).toBe(atOther.sub);

    // One enrollment.created, two verification.session.completed and one vae.resolved of the same user.
    const eventsOfOther = await bodiesOf(other, 4);
    expect(eventsOfOther.map(({ user_id }) => user_id)).toEqual(Array(4).fill(atOther.sub));
    expect(new Set(eventsOfOther.map(({ partner_id }) => partner_id))).toEqual(new Set([other.partnerId]));
    // One enrollment.created and one verification.session.completed of each of two users.
    const eventsOfOne = await bodiesOf(one, 4);
    expect(eventsOfOne.map(({ user_id }) => user_id).toSorted()).toEqual(
      [atOne.sub, atOne.sub, neighbour.sub, neighbour.sub].toSorted(),
    );

    const user = await server.admin.users.show.query({ user: atOne.sub });
    expect(user.enrollments.map(({ partnerId, sub }) => [partnerId, sub]).toSorted()).toEqual(
      [
        [one.partnerId, atOne.sub],
        [other.partnerId, atOther.sub],
      ].toSorted(),
    );
    expect(await server.admin.users.show.query({ user: atOther.sub })).toEqual(user);
    const erased = await server.admin.users.erase.mutate({ userId: user.id });
    expect(erased).toMatchObject({ enrollments: 2, sessions: 3, events: 6 });

    for (const { token } of [atOne, atOther, again]) expect((await userinfo(token)).status).toBe(401);
    const left = [...(await bodiesOf(one, 4)), ...(await bodiesOf(other, 4))];
    expect(left.map(({ user_id }) => user_id).toSorted()).toEqual(
      [...Array(6).fill('erased'), neighbour.sub, neighbour.sub].toSorted(),
    );
    for (const body of left) if ('claims' in body) expect(body['claims']).toEqual({});
    for (const user of [atOne.sub, atOther.sub])
      await expect(server.admin.users.show.query({ user })).rejects.toThrow('No user');
    // The other user of the first partner is not erased.
    expect((await userinfo(neighbour.token)).status).toBe(200);
    expect(await server.admin.users.show.query({ user: neighbour.sub })).toMatchObject({ sessions: 1 });
  });
});

describe('the same Idempotency-Key', () => {
  const claims = ['country'];

  it('causes a separate charge and a separate answer at each of two partners that send it', async () => {
    const [one, other] = [await createPartner(server), await createPartner(server)];
    const [atOne, atOther] = [await exchangedInSandbox(one), await exchangedInSandbox(other, 'abroad')];
    const first = await resolve(one.apiKey, 'same', { enrollment_id: await enrollmentOf(one), claims });
    const second = await resolve(other.apiKey, 'same', { enrollment_id: await enrollmentOf(other), claims });
    expect(first).toMatchObject({ status: 200, body: { sub: atOne.sub, claims: { country: 'DE' } } });
    expect(second).toMatchObject({ status: 200, body: { sub: atOther.sub, claims: { country: 'US' } } });
    expect([await balance(one), await balance(other)]).toEqual([9_900, 9_900]);
  });

  it('is refused with 422 for another enrollment of the API key, without claims of the first user', async () => {
    const partner = await createPartner(server);
    await exchangedInSandbox(partner);
    const adult = await enrollmentOf(partner);
    clock.advance(1_000);
    const { sub } = await exchangedInSandbox(partner, 'abroad');
    const traveller = await enrollmentOf(partner);
    expect(traveller).not.toBe(adult);
    expect((await resolve(partner.apiKey, 'same', { enrollment_id: adult, claims })).status).toBe(200);
    const conflict = await resolve(partner.apiKey, 'same', { enrollment_id: traveller, claims });
    expect(conflict).toEqual({ status: 422, body: { success: false, error: expect.any(String) } });
    const own = await resolve(partner.apiKey, 'other', { enrollment_id: traveller, claims });
    expect(own).toMatchObject({ status: 200, body: { sub } });
  });

  it('gets 404 if another API key of the partner sends it for the same enrollment', async () => {
    const partner = await createPartner(server);
    await exchangedInSandbox(partner);
    const { partnerId } = partner;
    const { apiKey } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
    const asked = { enrollment_id: await enrollmentOf(partner), claims };
    expect((await resolve(partner.apiKey, 'same', asked)).status).toBe(200);
    expect((await resolve(apiKey, 'same', asked)).status).toBe(404);
  });
});

describe('a claim that was removed from a client', () => {
  it('is ignored at checkbox although the user consented; a request for only this claim gets 422', async () => {
    const partner = await createPartner(server);
    await exchangedInSandbox(partner);
    const { apiKey, clientId } = partner;
    const both = { enrollment_id: await enrollmentOf(partner), claims: ['age_18_plus', 'country'] };
    expect((await resolve(apiKey, 'before', both)).body['claims']).toEqual({
      age_18_plus: true,
      country: 'DE',
    });
    await server.admin.clients.update.mutate({ clientId, claims: ['age_18_plus'] });
    const after = await resolve(apiKey, 'after', both);
    expect(after).toMatchObject({ status: 200, body: { meta: { claims_ignored: ['country'] } } });
    expect(after.body['claims']).toEqual({ age_18_plus: true });
    expect((await resolve(apiKey, 'alone', { ...both, claims: ['country'] })).status).toBe(422);
  });
});

describe('one customer at two shops', () => {
  /** Exchanges a code for a customer, and returns the customer hash that is stored in the enrollment. */
  async function rememberedFor(shop: Shop, shopDomain: string, customerId: string): Promise<unknown> {
    const code = await codeFor(server, shop);
    const body = JSON.stringify(fields(code, { shop_domain: shopDomain, customer_id: customerId }));
    const answer = await call(server, body, sign(shop, body, clock.now()));
    expect(answer.status).toBe(200);
    const enrollments = server.db.collection<{ _id: string; customerHash: string }>('enrollments');
    const found = await enrollments.findOne({ _id: String(answer.body['enrollment_id']) });
    expect(found?.customerHash).toMatch(/^[\w-]{43}$/);
    return found?.customerHash;
  }

  it('is stored as a different hash for each integration and shop, so that they cannot be joined', async () => {
    const [one, other] = [await createShop(server), await createShop(server)];
    const kept = [
      await rememberedFor(one, 'wine.example', 'customer-7'),
      await rememberedFor(one, 'spirits.example', 'customer-7'),
      await rememberedFor(other, 'wine.example', 'customer-7'),
      await rememberedFor(one, 'wine.example', 'customer-8'),
    ];
    expect(new Set(kept).size).toBe(4);
    expect(await rememberedFor(one, 'wine.example', 'customer-7')).toBe(kept[0]);
  });
});
