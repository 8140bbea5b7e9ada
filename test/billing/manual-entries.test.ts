import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { LedgerPage } from '../../server/billing/ledger/ledger-page.ts';
import { createLedgerStore } from '../../server/billing/ledger/ledger-store.ts';
import { openingPage } from '../../server/billing/ledger/page-builder.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { soundLedger } from './ledger-snapshot.ts';

let server: TestServer;
let partner: TestPartner;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const mode = 'test' as const;
const ledger = () => soundLedger(server.db, `${partner.partnerId}:test`);
const refused = (error: string) => ({ data: expect.objectContaining({ error }) });

async function newPartner(funds = 0): Promise<void> {
  partner = await createPartner(server, { funds });
}

const fund = (amount: number, reference: string) =>
  server.admin.wallets.fund.mutate({ partnerId: partner.partnerId, mode, amount, reference });

const adjust = (amount: number, reference?: string) =>
  server.admin.wallets.adjust.mutate({
    partnerId: partner.partnerId,
    mode,
    amount,
    reason: 'correction',
    ...(reference ? { reference } : {}),
  });

/** Makes a charge, and returns its id when the ledger contains it. */
async function charge(): Promise<string> {
  expect((await exchangeCode(server, partner, await completeSession(server, partner))).status).toBe(200);
  return (await ledger()).charges.at(-1)?.id ?? '';
}

describe('funding', () => {
  it('adds to the balance, and returns the balance before and after', async () => {
    await newPartner();
    expect(await fund(5_000, 'invoice 1')).toMatchObject({
      kind: 'funding',
      amount: 5_000,
      balanceBefore: 0,
      balanceAfter: 5_000,
      reference: 'invoice 1',
      seq: 1,
      repeated: false,
    });
    expect(await fund(7_000, 'invoice 2')).toMatchObject({ balanceAfter: 12_000, seq: 2 });
    expect((await ledger()).state.balance).toBe(12_000);
  });

  it('adds money once for two references that only differ in how Unicode writes them', async () => {
    await newPartner();
    const same = [
      ['caf\u00e9 1', 'cafe\u0301 1', 'cafe\u0301\u00a01'],
      ['No 7', '\u2116 7', '\uff2e\uff4f 7', 'No  7', 'No\u1680 \u20037'],
    ];
    for (const [first = '', ...others] of same) {
      const { id } = await fund(5_000, first);
      for (const other of others) expect(await fund(5_000, other)).toMatchObject({ id, repeated: true });
      await expect(fund(6_000, others[0] ?? '')).rejects.toMatchObject(refused('conflict'));
    }
    expect((await adjust(100, 'caf\u00e9')).id).toBe((await adjust(100, 'cafe\u0301')).id);
    expect((await ledger()).state.balance).toBe(10_100);
  });

  it('adds money once for one reference, and reports `repeated` to all other callers', async () => {
    await newPartner();
    const answers = await Promise.all(Array.from({ length: 10 }, () => fund(5_000, 'invoice 1')));
    const again = await fund(5_000, 'invoice 1');
    expect(new Set([...answers, again].map(({ id }) => id)).size).toBe(1);
    // Exactly one call moved the money; the others were repeats.
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(again.repeated).toBe(true);
    const { state, entries } = await ledger();
    expect([state.balance, entries.length]).toEqual([5_000, 1]);
  });

  it('is refused with conflict for a reference that was used with another amount', async () => {
    await newPartner();
    await fund(5_000, 'invoice 1');
    await expect(fund(5_001, 'invoice 1')).rejects.toMatchObject(refused('conflict'));
    expect((await ledger()).state.balance).toBe(5_000);
  });

  it('accepts the same reference once for each mode and partner', async () => {
    await newPartner();
    const { partnerId } = partner;
    await fund(5_000, 'invoice 1');
    await server.admin.wallets.fund.mutate({
      partnerId,
      mode: 'live',
      amount: 6_000,
      reference: 'invoice 1',
    });
    await newPartner();
    await fund(7_000, 'invoice 1');
    expect((await ledger()).state.balance).toBe(7_000);
    expect((await soundLedger(server.db, `${partnerId}:live`)).state.balance).toBe(6_000);
  });

  it('is refused with bad_input below 50 USD, above one million USD, and for an amount with fractions of a cent', async () => {
    await newPartner();
    for (const amount of [4_999, 0, -5_000, 100_000_001, 5_000.5, Number.NaN])
      await expect(fund(amount, 'x')).rejects.toMatchObject(refused('bad_input'));
    expect((await ledger()).state.balance).toBe(0);
  });

  it('accepts the smallest and the largest amount, and 30 of the largest in one wallet', async () => {
    await newPartner();
    await fund(5_000, 'least');
    await fund(100_000_000, 'most');
    const many = await Promise.all(Array.from({ length: 30 }, (_, n) => fund(100_000_000, `more ${n}`)));
    expect(many).toHaveLength(30);
    expect((await ledger()).state.balance).toBe(3_100_005_000);
  });

  it('stores the reference "$$ROOT.balance" as plain text, although it looks like a database expression', async () => {
    await newPartner();
    expect(await fund(5_000, '$$ROOT.balance')).toMatchObject({ reference: '$$ROOT.balance' });
    expect((await ledger()).entries[0]?.memo?.reference).toBe('$$ROOT.balance');
  });

  it('is refused with not_found for a partner that does not exist', async () => {
    const unknown = { partnerId: 'ptr_0000000000000000000000', mode, amount: 5_000, reference: 'x' };
    await expect(server.admin.wallets.fund.mutate(unknown)).rejects.toMatchObject(refused('not_found'));
  });
});

describe('an adjustment', () => {
  it('raises or lowers the balance, and records reason and actor', async () => {
    await newPartner(5_000);
    expect(await adjust(-1_000)).toMatchObject({ kind: 'adjustment', amount: -1_000, balanceAfter: 4_000 });
    expect(await adjust(500)).toMatchObject({
      balanceAfter: 4_500,
      reason: 'correction',
      actor: expect.any(String),
    });
    expect((await ledger()).state.balance).toBe(4_500);
  });

  it('is refused with `refused` if the balance would become negative, but may lower the balance to zero', async () => {
    await newPartner(5_000);
    await expect(adjust(-5_001)).rejects.toMatchObject(refused('refused'));
    expect(await adjust(-5_000)).toMatchObject({ balanceAfter: 0 });
    await expect(adjust(-1)).rejects.toMatchObject(refused('refused'));
    expect((await ledger()).state.balance).toBe(0);
  });

  it('never takes more than the balance, even from simultaneous callers', async () => {
    await newPartner(5_000);
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => adjust(-600)));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(8);
    expect((await ledger()).state.balance).toBe(200);
  });

  it('is applied once for one reference; another amount with this reference is refused with conflict', async () => {
    await newPartner(5_000);
    await adjust(-100, 'ticket 7');
    expect(await adjust(-100, 'ticket 7')).toMatchObject({ repeated: true });
    await expect(adjust(100, 'ticket 7')).rejects.toMatchObject(refused('conflict'));
    await adjust(-100);
    await adjust(-100);
    expect((await ledger()).state.balance).toBe(4_700);
  });

  it('is refused with bad_input for an amount of zero', async () => {
    await newPartner();
    await expect(adjust(0)).rejects.toMatchObject(refused('bad_input'));
  });
});

describe('a refund', () => {
  const refund = (entryId: string, reason = 'the answer was lost') =>
    server.admin.wallets.refund.mutate({ entryId, reason });

  it('returns the amount of a charge, and names the charge', async () => {
    await newPartner(5_000);
    const entryId = await charge();
    expect(await refund(entryId)).toMatchObject({
      id: `rev_${entryId}`,
      kind: 'refund',
      amount: 50,
      of: entryId,
      reason: 'the answer was lost',
      repeated: false,
    });
    const { state, entries } = await ledger();
    expect([state.balance, entries.length]).toEqual([5_000, 3]);
  });

  it('is in the audit log under its partner, its wallet and its charge, which the role support may read', async () => {
    await newPartner(5_000);
    const entryId = await charge();
    await refund(entryId);
    const { partnerId } = partner;
    const { token } = await server.admin.operators.create.mutate({ name: 'Kim', role: 'support' });
    const refundsOf = (target: string) =>
      server.as(token).auditLog.list.query({ target, action: 'wallets.refund' });
    for (const target of [partnerId, `${partnerId}:test`, entryId])
      await expect.poll(() => refundsOf(target)).toMatchObject([{ target: entryId }]);
    expect(await refundsOf(`${partnerId}:live`)).toEqual([]);
  });

  it('is idempotent, also for simultaneous repeats', async () => {
    await newPartner(5_000);
    const entryId = await charge();
    const answers = await Promise.all(Array.from({ length: 8 }, () => refund(entryId)));
    expect(answers.map(({ amount }) => amount)).toEqual(answers.map(() => 50));
    expect(answers.filter(({ repeated }) => !repeated)).toHaveLength(1);
    expect(await refund(entryId, 'another reason')).toMatchObject({
      repeated: true,
      reason: 'the answer was lost',
    });
    expect((await ledger()).state.balance).toBe(5_000);
  });

  it('returns the amount that was paid, even if the price has changed', async () => {
    await newPartner(5_000);
    const entryId = await charge();
    const { partnerId } = partner;
    await server.admin.prices.set.mutate({ partnerId, kind: 'token', cents: 400 });
    expect(await refund(entryId)).toMatchObject({ amount: 50, balanceAfter: 5_000 });
  });

  it('returns the amount of a charge even if the database holds over 1,000 other wallets', async () => {
    await newPartner(5_000);
    const entryId = await charge();
    const before = Array.from({ length: 1_001 }, (_, n) =>
      openingPage(`ptr_${String(n).padStart(22, '0')}:test`, new Date()),
    );
    expect(new Set(await createLedgerStore(server.db).insert(before))).toEqual(new Set(['inserted']));
    onTestFinished(async () => {
      const _id = { $in: before.map((page) => page._id) };
      await server.db.collection<LedgerPage>('ledger').deleteMany({ _id });
    });
    expect(await refund(entryId)).toMatchObject({ of: entryId, amount: 50, balanceAfter: 5_000 });
  });

  it('is refused with `refused` for a funding, a refund, an adjustment and a free charge', async () => {
    await newPartner(5_000);
    const { entries } = await ledger();
    await expect(refund(entries[0]?.id ?? '')).rejects.toMatchObject(refused('refused'));
    const entryId = await charge();
    await refund(entryId);
    await expect(refund(`rev_${entryId}`)).rejects.toMatchObject(refused('refused'));
    await adjust(-100);
    const correction = (await ledger()).entries.at(-1)?.id ?? '';
    await expect(refund(correction)).rejects.toMatchObject(refused('refused'));
    const { partnerId } = partner;
    await server.admin.prices.set.mutate({ partnerId, kind: 'token', cents: 0 });
    const free = await charge();
    await expect(refund(free)).rejects.toMatchObject(refused('refused'));
    await expect(refund('txn_0000000000000000000000')).rejects.toMatchObject(refused('not_found'));
  });
});
