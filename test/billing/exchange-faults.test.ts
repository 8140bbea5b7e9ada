import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Code, TestPartner } from '../harness/partner.ts';
import { type FaultyServer, gate, lostConnection, once, startFaulty } from './faulty-server.ts';

let server: FaultyServer;
let partner: TestPartner;
let verified: Code;

beforeAll(async () => {
  server = await startFaulty();
});
afterAll(() => server.stop());

async function newVerifiedUser(person?: string): Promise<void> {
  partner = await server.partner();
  verified = await server.verifyUser(partner, person);
}

async function expectChargedOnce(): Promise<void> {
  const { state, charges } = await server.ledger(partner);
  expect([state.balance, charges.length]).toEqual([10_000 - 50, 1]);
}

const unavailable = { status: 503, error: 'service_unavailable', retryAfter: '5' };
const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

describe('an exchange whose database connection breaks once', () => {
  it.each([
    ['before the page insert', 'before'],
    ['after the page insert, before its reply', 'after'],
  ] as const)('yields a token and one charge if the connection breaks %s', async (_, when) => {
    await newVerifiedUser();
    server.at('insert', { [when]: once(lostConnection) });
    const { status, access_token: token } = await server.exchange(partner, verified);
    expect(status).toBe(200);
    expect(await server.userinfo(token)).toBe(200);
    await expectChargedOnce();
  });
});

describe('a database that is away until the deadline', () => {
  it('causes a 503 without a charge if it fails before the page insert; the code stays valid', async () => {
    await newVerifiedUser();
    server.at('insert', { before: lostConnection });
    expect(await server.exchange(partner, verified)).toMatchObject(unavailable);
    expect((await server.ledgerNow(partner)).state.balance).toBe(10_000);
    server.at('insert');
    expect((await server.exchange(partner, verified)).status).toBe(200);
    await expectChargedOnce();
  });

  it('yields a token if it fails after the page insert, because the server finds the page', async () => {
    await newVerifiedUser();
    server.at('insert', { after: lostConnection });
    const { status, access_token: token } = await server.exchange(partner, verified);
    server.at('insert');
    expect(status).toBe(200);
    expect(await server.userinfo(token)).toBe(200);
    await expectChargedOnce();
  });

  it('makes the server insert a fence, so that a delayed page of the exchange cannot appear', async () => {
    await newVerifiedUser();
    server.at('insert', { before: lostConnection });
    await server.exchange(partner, verified);
    server.at('insert');
    const { pages } = await server.ledger(partner);
    const [fence] = pages.at(-1)?.entries ?? [];
    expect(fence).toMatchObject({ kind: 'fence', amount: 0 });
    expect(fence?.seq).toBeUndefined();
  });
});

describe('a database slower than the deadline of an exchange', () => {
  it('causes a 503 although the charge is written; a second exchange gets 400 with its id', async () => {
    await newVerifiedUser();
    const reply = gate();
    server.at('insert', { after: () => reply.passed });
    expect(await server.exchange(partner, verified)).toMatchObject(unavailable);
    server.at('insert');
    reply.open();
    await expectChargedOnce();
    expect(await server.exchange(partner, verified)).toMatchObject({
      status: 400,
      error: 'invalid_grant',
      error_description: expect.stringMatching(/already used at \S+; charge txn_/),
    });
    await expectChargedOnce();
  });

  it('causes 503 without a charge for five waiting callers, whose codes can be exchanged later', async () => {
    await newVerifiedUser();
    const reply = gate();
    server.at('insert', { after: once(() => reply.passed) });
    const first = server.exchange(partner, verified);
    await pause(50);
    const waiting = await Promise.all(
      Array.from({ length: 5 }, async () => {
        const other = await server.verifyUser(partner, 'new-adult');
        return { other, answer: server.exchange(partner, other) };
      }),
    );
    const answers = await Promise.all(waiting.map(({ answer }) => answer));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 503));
    reply.open();
    await first;
    await pause(100);
    expect((await server.ledger(partner)).charges).toHaveLength(1);
    const again = await Promise.all(waiting.map(({ other }) => server.exchange(partner, other)));
    expect(again.map(({ status }) => status)).toEqual(again.map(() => 200));
  });
});

describe('five simultaneous exchanges of one code, during which the database connection breaks once,', () => {
  it('get one 200 and four 400, and the code is charged once', async () => {
    await newVerifiedUser();
    server.at('insert', { after: once(lostConnection) });
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.exchange(partner, verified)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
    await expectChargedOnce();
  });
});

describe('the event vae.resolved of a charge', () => {
  const eventsOf = () =>
    server.db.collection('events').countDocuments({ partnerId: partner.partnerId, type: 'vae.resolved' });
  const unpublished = async () =>
    (await server.ledgerNow(partner)).pages.filter((page) => page.unpublished).length;

  it.each(['before', 'after'] as const)(
    'is published once if the connection breaks %s its ledger mark is removed, and a sweep removes the mark',
    async (when) => {
      await newVerifiedUser();
      expect((await server.exchange(partner, verified)).status).toBe(200);
      await expect.poll(unpublished).toBe(0);
      const breaks = vi.fn(lostConnection);
      server.at('publish', { [when]: breaks });
      const returning = await server.verifyUser(partner);
      expect((await server.exchange(partner, returning)).status).toBe(200);
      await expect.poll(() => breaks.mock.calls.length).toBeGreaterThan(0);
      server.at('publish');
      server.clock.advance(10_001);
      await server.sweep();
      expect([await eventsOf(), await unpublished()]).toEqual([1, 0]);
      await server.sweep();
      expect(await eventsOf()).toBe(1);
    },
  );

  it('keeps its ledger mark in a sweep within 10 s, and loses it in a later sweep', async () => {
    await newVerifiedUser();
    expect((await server.exchange(partner, verified)).status).toBe(200);
    await expect.poll(unpublished).toBe(0);
    const breaks = vi.fn(lostConnection);
    server.at('publish', { before: breaks });
    expect((await server.exchange(partner, await server.verifyUser(partner))).status).toBe(200);
    await expect.poll(() => breaks.mock.calls.length).toBeGreaterThan(0);
    await expect.poll(eventsOf).toBe(1);
    server.at('publish');
    await server.sweep();
    expect(await unpublished()).toBe(1);
    server.clock.advance(10_001);
    await server.sweep();
    expect(await unpublished()).toBe(0);
  });

  it('has no ledger mark after the first exchange of a user, because only returning users cause the event', async () => {
    await newVerifiedUser();
    expect((await server.exchange(partner, verified)).status).toBe(200);
    const { pages, charges } = await server.ledgerNow(partner);
    expect(charges[0]?.grant?.returning).toBe(false);
    expect(pages.at(-1)?.unpublished).toBeUndefined();
  });
});
