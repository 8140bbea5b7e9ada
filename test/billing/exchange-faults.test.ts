import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { TestPartner, Visit } from '../harness/partner.ts';
import { type FaultyServer, gate, lostConnection, once, startFaulty } from './faults.ts';

let server: FaultyServer;
let partner: TestPartner;
let visit: Visit;

beforeAll(async () => {
  server = await startFaulty();
});
afterAll(() => server.stop());

async function newVisit(): Promise<void> {
  partner = await server.partner();
  visit = await server.visit(partner);
}

async function expectChargedOnce(): Promise<void> {
  const { wallet, charges, records, reversals } = await server.books(partner);
  expect(wallet.balance).toBe(10_000 - 50);
  expect([charges.length, records.length, reversals.length]).toEqual([1, 1, 0]);
}

const unavailable = { status: 503, error: 'service_unavailable', retryAfter: '5' };

describe('a database that breaks once during an exchange', () => {
  it.each([
    ['before the hold', 'hold', 'before'],
    ['after the hold, whose reply is lost', 'hold', 'after'],
    ['before the access', 'commit', 'before'],
    ['after the access, whose reply is lost', 'commit', 'after'],
  ] as const)('%s: the caller gets the token, and pays once', async (_, step, when) => {
    await newVisit();
    server.at(step, { [when]: once(lostConnection) });
    const { status, access_token: token } = await server.exchange(partner, visit);
    expect(status).toBe(200);
    expect(await server.userinfo(token)).toBe(200);
    await expectChargedOnce();
  });

  it.each([
    ['before', 'ledger'],
    ['after', 'ledger'],
  ] as const)('%s the step "%s" of the settlement: the sweep finishes it', async (when, step) => {
    await newVisit();
    const breaks = vi.fn(once(lostConnection));
    server.at(step, { [when]: breaks });
    expect((await server.exchange(partner, visit)).status).toBe(200);
    await expect.poll(() => breaks.mock.calls.length).toBe(1);
    expect((await server.booksNow(partner)).wallet.holds.at(-1)).toMatchObject({ kind: 'token' });
    server.clock.advance(10_001);
    await server.sweep();
    await expectChargedOnce();
  });
});

describe('a database that stays broken for longer than a caller waits', () => {
  it('at the hold: 503 and nothing is debited; the code is good afterwards', async () => {
    await newVisit();
    server.at('hold', { before: lostConnection });
    expect(await server.exchange(partner, visit)).toMatchObject(unavailable);
    expect((await server.booksNow(partner)).wallet).toMatchObject({ balance: 10_000, seq: 1 });
    server.at('hold');
    expect((await server.exchange(partner, visit)).status).toBe(200);
    await expectChargedOnce();
  });

  it('after the hold, unseen: 503; the code continues with the hold that stands', async () => {
    await newVisit();
    server.at('hold', { after: lostConnection });
    expect(await server.exchange(partner, visit)).toMatchObject(unavailable);
    server.at('hold');
    expect((await server.booksNow(partner)).wallet).toMatchObject({ balance: 9_950, seq: 2 });
    expect((await server.exchange(partner, visit)).status).toBe(200);
    await expectChargedOnce();
  });

  it('at the access: 503; the code continues with the hold that stands', async () => {
    await newVisit();
    server.at('commit', { before: lostConnection });
    expect(await server.exchange(partner, visit)).toMatchObject(unavailable);
    server.at('commit');
    expect((await server.booksNow(partner)).records).toEqual([]);
    expect((await server.exchange(partner, visit)).status).toBe(200);
    await expectChargedOnce();
  });

  it('after the access, unseen: 503, and then the code says which charge it was', async () => {
    await newVisit();
    server.at('commit', { after: lostConnection });
    expect(await server.exchange(partner, visit)).toMatchObject(unavailable);
    server.at('commit');
    expect(await server.exchange(partner, visit)).toMatchObject({
      status: 400,
      error: 'invalid_grant',
      error_description: expect.stringMatching(/already used at \S+; charge txn_/),
    });
    server.clock.advance(10_001);
    await server.sweep();
    await expectChargedOnce();
  });
});

describe('a database that is too slow for the caller', () => {
  it('503 in time; what the hold took goes back, the access is not begun, and the code is good', async () => {
    await newVisit();
    const hold = gate();
    server.at('hold', { after: () => hold.passed });
    expect(await server.exchange(partner, visit)).toMatchObject(unavailable);
    server.at('hold');
    hold.open();
    expect((await server.booksNow(partner)).wallet.balance).toBe(9_950);
    server.clock.advance(10_001);
    await server.sweep();
    expect((await server.books(partner)).wallet.balance).toBe(10_000);
    expect((await server.exchange(partner, visit)).status).toBe(200);
    const { wallet, charges, reversals } = await server.books(partner);
    expect([wallet.balance, charges.length, reversals.length]).toEqual([9_950, 2, 1]);
  });
});

describe('a database that is slow at every step, each within its time', () => {
  it('is waited for: whoever is told 503 nevertheless has a code that is good', async () => {
    await newVisit();
    const slow = (ms: number) => once(() => new Promise((resolve) => setTimeout(resolve, ms)));
    server.at('hold', { before: slow(1_000), after: slow(1_200) });
    server.at('commit', { before: slow(1_850) });
    const { status } = await server.exchange(partner, visit);
    if (status !== 200) {
      expect(status).toBe(503);
      server.clock.advance(10_001);
      await server.sweep();
      expect((await server.exchange(partner, visit)).status).toBe(200);
    }
    expect((await server.books(partner)).wallet.balance).toBe(9_950);
  });
});

describe('two callers of one code while the database breaks', () => {
  it('get one token and pay once', async () => {
    await newVisit();
    server.at('hold', { after: once(lostConnection) });
    server.at('commit', { after: once(lostConnection) });
    const answers = await Promise.all(Array.from({ length: 5 }, () => server.exchange(partner, visit)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 400, 400, 400, 400]);
    await expectChargedOnce();
  });
});

describe('a wallet with too many holds', () => {
  it('answers 503 to a charge while 240 of them wait; the code is good afterwards', async () => {
    await newVisit();
    const wallets = server.db.collection<{ _id: string; holds: object[] }>('wallets');
    const one = { _id: `${partner.partnerId}:test` };
    const deadline = new Date(server.clock.now() + 3_600_000);
    const holds = Array.from({ length: 240 }, (_, n) => ({ id: `txn_${n}`, amount: 0, deadline }));
    await wallets.updateOne(one, { $set: { holds } });
    expect(await server.exchange(partner, visit)).toMatchObject(unavailable);
    await wallets.updateOne(one, { $set: { holds: holds.slice(1) } });
    expect((await server.exchange(partner, visit)).status).toBe(200);
    await wallets.updateOne(one, { $pull: { holds: { amount: 0 } } });
    expect((await server.booksNow(partner)).wallet).toMatchObject({ balance: 9_950, seq: 2 });
  });
});
