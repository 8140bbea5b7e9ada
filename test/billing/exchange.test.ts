import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { type Pair, startPair } from './pair.ts';

/** The number of codes; twenty callers exchange each of them, ten codes at a time. */
const redeemed = inject('thorough') ? 50 : 4;

let pair: Pair;
beforeAll(async () => {
  pair = await startPair();
});
afterAll(() => pair.stop());

type Answer = Awaited<ReturnType<Pair['exchange']>>;
const withStatus = (answers: readonly Answer[], status: number) =>
  answers.filter((answer) => answer.status === status);

describe('codes exchanged simultaneously at two servers', () => {
  // The same title in both tiers, because the list of slow tests knows tests by their titles.
  it('yield one token and one charge per code if 20 callers send each of the codes', async () => {
    const partner = await pair.partner();
    const verifications = await pair.verifyUsers(partner, redeemed);
    const answers: Answer[] = [];
    // Ten codes at a time, because a slow machine would refuse more with 503.
    for (let first = 0; first < verifications.length; first += 10) {
      const codes = verifications.slice(first, first + 10);
      const callers = codes.flatMap((verified) => Array.from({ length: 20 }, () => verified));
      answers.push(...(await Promise.all(callers.map((verified) => pair.exchange(partner, verified)))));
    }

    const granted = withStatus(answers, 200);
    expect(granted).toHaveLength(redeemed);
    for (const { status, description } of answers.filter((answer) => answer.status !== 200)) {
      expect({ status, description }).toEqual({
        status: 400,
        description: expect.stringMatching(/^Authorization code already used at \S+; charge txn_\w{22}$/),
      });
    }
    const { state, charges } = await pair.ledger(partner);
    expect(state.balance).toBe(100_000 - redeemed * 50);
    expect([state.minute.used, state.hour.used]).toEqual([redeemed, redeemed]);
    const ids = granted.map(({ token }) => decodeJwt(token ?? '').jti).toSorted();
    expect(charges.map(({ id }) => id).toSorted()).toEqual(ids);
  });

  it('yield ten tokens and 20 answers 402 if there are 30 and the wallet can pay for ten', async () => {
    const partner = await pair.partner({ funds: 5_000 });
    const { partnerId } = partner;
    await pair.first.admin.prices.set.mutate({ partnerId, kind: 'token', cents: 500 });
    const verifications = await pair.verifyUsers(partner, 30);
    const answers = await Promise.all(verifications.map((verified) => pair.exchange(partner, verified)));
    expect(withStatus(answers, 200)).toHaveLength(10);
    expect(withStatus(answers, 402)).toHaveLength(20);
    expect((await pair.ledger(partner)).state.balance).toBe(0);
  });

  it.each([
    ['perMinute', 'minute'],
    ['perHour', 'hour'],
  ])(
    'yield ten tokens and 20 answers 429 if there are 30 and the spend cap %s is ten',
    async (cap, bucket) => {
      const partner = await pair.partner();
      const { partnerId } = partner;
      await pair.first.admin.limits.set.mutate({ partnerId, mode: 'test', [cap]: 10 });
      const verifications = await pair.verifyUsers(partner, 30);
      const answers = await Promise.all(verifications.map((verified) => pair.exchange(partner, verified)));
      expect(withStatus(answers, 200)).toHaveLength(10);
      const refused = withStatus(answers, 429);
      expect(refused).toHaveLength(20);
      expect(new Set(refused.map(({ description }) => description))).toEqual(
        new Set([`Spend limit exceeded: ${bucket} bucket`]),
      );
      expect((await pair.ledger(partner)).state.balance).toBe(100_000 - 10 * 50);
    },
  );

  it('can be exchanged after a 429 by the spend cap, and are charged once each', async () => {
    const partner = await pair.partner();
    const { partnerId } = partner;
    const limits = { partnerId, mode: 'test' as const };
    await pair.first.admin.limits.set.mutate({ ...limits, perMinute: 5 });
    const verifications = await pair.verifyUsers(partner, 15);
    const both = [...verifications, ...verifications];
    await Promise.all(both.map((verified) => pair.exchange(partner, verified)));
    await pair.first.admin.limits.set.mutate({ ...limits, perMinute: 1_000 });
    await Promise.all(both.map((verified) => pair.exchange(partner, verified)));
    expect((await pair.ledger(partner)).charges).toHaveLength(15);
  });
});

describe('an exchange that is refused', () => {
  it('leaves the ledger unchanged, with 402 and with 429', async () => {
    const partner = await pair.partner({ funds: 0 });
    const { partnerId } = partner;
    const verifications = await pair.verifyUsers(partner, 4);
    const written = async () => (await pair.ledger(partner)).pages.map(({ digest }) => digest);
    const before = await written();
    for (const each of verifications.slice(0, 2))
      expect((await pair.exchange(partner, each)).status).toBe(402);
    expect(await written()).toEqual(before);
    await pair.first.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 0 });
    const capped = await written();
    for (const each of verifications.slice(2)) expect((await pair.exchange(partner, each)).status).toBe(429);
    expect(await written()).toEqual(capped);
  });

  it('gets 400 for a used code, even if the spend cap is reached', async () => {
    const partner = await pair.partner();
    const { partnerId } = partner;
    const verified = await pair.verifyUser(partner);
    expect((await pair.exchange(partner, verified)).status).toBe(200);
    await pair.first.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 0 });
    for (let n = 0; n < 2; n += 1) {
      const { status, description } = await pair.exchange(partner, verified);
      expect([status, description]).toEqual([400, expect.stringContaining('already used')]);
    }
  });

  it('succeeds when it is repeated after another process has added money to the empty wallet', async () => {
    const partner = await pair.partner({ funds: 5_000 });
    const { partnerId } = partner;
    const wallet = { partnerId, mode: 'test' as const };
    await pair.first.admin.prices.set.mutate({ partnerId, kind: 'token', cents: 5_000 });
    const servers = [pair.first, pair.second] as const;
    const [head] = await pair.verifyUsers(partner, 1);
    if (head) expect((await pair.exchange(partner, head)).status).toBe(200);
    for (const [n, each] of (await pair.verifyUsers(partner, 4)).entries()) {
      // Both servers have just read that the wallet is empty.
      for (const server of servers) expect((await pair.exchangeAt(server, partner, each)).status).toBe(402);
      const [funding, using] = n % 2 ? [pair.first, pair.second] : [pair.second, pair.first];
      await funding.admin.wallets.fund.mutate({ ...wallet, amount: 5_000, reference: `round ${n}` });
      expect((await pair.exchangeAt(using, partner, each)).status).toBe(200);
    }
    await pair.ledger(partner);
  });
});

describe('a change by another process', () => {
  it('moves a client from a revoked API key to a new one, and its later charges name the new API key', async () => {
    const partner = await pair.partner();
    const { partnerId, clientId, keyId: old } = partner;
    for (const verified of await pair.verifyUsers(partner, 2))
      expect((await pair.exchange(partner, verified)).status).toBe(200);
    const { admin } = pair.first;
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    await admin.clients.update.mutate({ clientId, keyId });
    await admin.keys.revoke.mutate({ keyId: old });
    for (const verified of await pair.verifyUsers({ ...partner, keyId }, 2))
      expect((await pair.exchange(partner, verified)).status).toBe(200);
    // Events of a session go to its key, or after the key's revocation to the client's present key.
    const { charges } = await pair.ledger(partner);
    expect(charges.map(({ grant }) => grant?.keyId)).toEqual([old, old, keyId, keyId]);
  });

  it('sets the hour cap, and a simultaneous change by this process sets the minute cap; neither change is lost', async () => {
    const { partnerId } = await pair.partner();
    const wallet = { partnerId, mode: 'test' as const };
    for (let n = 1; n <= 5; n += 1) {
      await Promise.all([
        pair.first.admin.limits.set.mutate({ ...wallet, perMinute: n }),
        pair.second.admin.limits.set.mutate({ ...wallet, perHour: 1_000 + n }),
      ]);
      const caps = await pair.second.admin.limits.show.query(wallet);
      expect([caps.perMinute, caps.perHour]).toEqual([n, 1_000 + n]);
    }
  });
});

describe('vae.resolved', () => {
  it('is published once for each exchange of a returning user, and not for the first exchange of a user', async () => {
    const partner = await pair.partner();
    const first = await pair.verifyUser(partner);
    await pair.exchange(partner, first);
    const later = [await pair.verifyUser(partner), await pair.verifyUser(partner)];
    const callers = later.flatMap((verified) => Array.from({ length: 8 }, () => verified));
    const answers = await Promise.all(callers.map((verified) => pair.exchange(partner, verified)));
    const granted = withStatus(answers, 200);
    const { sub } = decodeJwt(granted[0]?.token ?? '');
    const { partnerId, keyId } = partner;
    const find = () => pair.db.collection('events').find({ partnerId, type: 'vae.resolved' }).toArray();
    await expect.poll(async () => (await find()).length).toBe(2);
    const events = await find();
    expect(granted).toHaveLength(2);
    expect(events.map(({ body }) => JSON.parse(body))).toEqual(
      events.map(({ _id }) => ({
        event: 'vae.resolved',
        event_id: _id,
        partner_id: partnerId,
        user_id: sub,
        claims: { age_18_plus: true, identity_verified: true },
        resolved_at: new Date(pair.clock.now()).toISOString(),
      })),
    );
    expect(events.map((event) => event['keyId'])).toEqual([keyId, keyId]);
  });
});

describe('a price of zero', () => {
  it('moves no money, but the exchange counts for the spend cap and is in the ledger', async () => {
    const partner = await pair.partner({ funds: 0 });
    const { partnerId } = partner;
    await pair.first.admin.prices.set.mutate({ partnerId, kind: 'token', cents: 0 });
    expect((await pair.exchange(partner, await pair.verifyUser(partner))).status).toBe(200);
    const { state, charges } = await pair.ledger(partner);
    expect(charges.map(({ amount }) => amount)).toEqual([0]);
    expect([state.balance, state.minute.used]).toEqual([0, 1]);
  });
});
