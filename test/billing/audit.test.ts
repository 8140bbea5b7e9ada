import { Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, post, type TestPartner, tokenForm, visit } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

type Row = { _id: string; seq: number; amount: number; balanceAfter: number; kind: string };
const rows = () => server.db.collection<Row>('ledger');
const accesses = () => server.db.collection<{ _id: string }>('accesses');
const wallets = () => server.db.collection<{ _id: string }>('wallets');
const cents = (value: number) => Long.fromNumber(value) as unknown as number;

/** A partner with a funding, three settled charges and a refund in its test wallet. */
async function busyPartner(): Promise<TestPartner & { walletId: string; charges: Row[] }> {
  const partner = await createPartner(server);
  const walletId = `${partner.partnerId}:test`;
  for (let n = 0; n < 3; n += 1) {
    const answer = await post(
      `${server.baseUrl}/api/oauth/token`,
      tokenForm(partner, await visit(server, partner)),
    );
    expect(answer.status).toBe(200);
  }
  await expect.poll(() => rows().countDocuments({ walletId }), { timeout: 5_000 }).toBe(4);
  const charges = await rows()
    .find({ walletId, kind: 'token' } as never)
    .sort({ seq: 1 })
    .toArray();
  await server.admin.wallets.refund.mutate({ entryId: charges[0]?._id ?? '', reason: 'goodwill' });
  // What is still held would be written again after it is deleted.
  await expect.poll(() => wallets().countDocuments({ _id: walletId, holds: [] }), { timeout: 5_000 }).toBe(1);
  return { ...partner, walletId, charges };
}

async function findings(partner: TestPartner) {
  const reports = await server.admin.wallets.audit.query({ partnerId: partner.partnerId });
  return reports.flatMap((report) => report.findings);
}

describe('wallets audit', () => {
  it('finds nothing in a wallet that was only ever used', async () => {
    expect(await findings(await busyPartner())).toEqual([]);
  });

  it('raises no false alarm while the wallet is charged', async () => {
    const partner = await createPartner(server);
    const visits = await Promise.all(Array.from({ length: 20 }, () => visit(server, partner, 'new-adult')));
    const redeemed = visits.map((each) =>
      post(`${server.baseUrl}/api/oauth/token`, tokenForm(partner, each)).then(({ status }) => status),
    );
    for (let n = 0; n < 10; n += 1) expect(await findings(partner)).toEqual([]);
    expect(await Promise.all(redeemed)).toEqual(visits.map(() => 200));
    expect(await findings(partner)).toEqual([]);
  });

  /** Each plants one corruption; the audit has to name the wallet's first bad entry, or the wallet as a whole. */
  const corruptions: Record<
    string,
    { seq?: number; plant: (partner: Awaited<ReturnType<typeof busyPartner>>) => Promise<unknown> }
  > = {
    'an edited amount': {
      seq: 2,
      plant: ({ charges }) =>
        rows().updateOne({ _id: charges[0]?._id ?? '' }, { $set: { amount: cents(-40) } }),
    },
    'an edited balance': {
      seq: 3,
      plant: ({ charges }) =>
        rows().updateOne({ _id: charges[1]?._id ?? '' }, { $inc: { balanceAfter: cents(7) } }),
    },
    'a deleted entry': { seq: 3, plant: ({ charges }) => rows().deleteOne({ _id: charges[1]?._id ?? '' }) },
    'a deleted last entry': {
      seq: 5,
      plant: ({ charges }) => rows().deleteOne({ _id: `rev_${charges[0]?._id}` }),
    },
    'an entry that was added': {
      seq: 6,
      plant: async ({ walletId, charges }) =>
        rows().insertOne({
          ...(charges[2] as Row),
          _id: 'txn_0000000000000000000000',
          seq: 9,
          walletId,
        } as never),
    },
    'two entries that changed places': {
      seq: 3,
      plant: async ({ charges: [, second, third] }) => {
        await rows().updateOne({ _id: second?._id ?? '' }, { $set: { seq: cents(99) } });
        await rows().updateOne({ _id: third?._id ?? '' }, { $set: { seq: cents(second?.seq ?? 0) } });
        await rows().updateOne({ _id: second?._id ?? '' }, { $set: { seq: cents(third?.seq ?? 0) } });
      },
    },
    'an edited wallet balance': {
      seq: 5,
      plant: ({ walletId }) => wallets().updateOne({ _id: walletId }, { $inc: { balance: cents(100) } }),
    },
    'an edited wallet seq': {
      seq: 6,
      plant: ({ walletId }) => wallets().updateOne({ _id: walletId }, { $inc: { seq: cents(1) } }),
    },
    'legs that do not add up': {
      seq: 2,
      plant: ({ charges }) =>
        rows().updateOne({ _id: charges[0]?._id ?? '' }, { $set: { 'legs.1.amount': cents(49) } }),
    },
    'a leg on another account': {
      seq: 2,
      plant: ({ charges }) =>
        rows().updateOne({ _id: charges[0]?._id ?? '' }, { $set: { 'legs.1.account': 'adjustments' } }),
    },
    'an edited kind': {
      seq: 1,
      plant: ({ walletId }) => rows().updateOne({ walletId, seq: 1 } as never, { $set: { kind: 'token' } }),
    },
    'a fraction of a cent': {
      seq: 2,
      plant: ({ charges }) => rows().updateOne({ _id: charges[0]?._id ?? '' }, { $set: { amount: -50.5 } }),
    },
    'a deleted access': {
      seq: 4,
      plant: ({ charges }) => accesses().deleteOne({ _id: charges[2]?._id ?? '' }),
    },
    'an access that nobody paid for': {
      plant: async ({ charges }) => {
        const paid = await accesses().findOne({ _id: charges[1]?._id ?? '' });
        await accesses().insertOne({ ...paid, _id: 'txn_1111111111111111111111' });
      },
    },
    'a tombstone without a reversal': {
      seq: 3,
      plant: ({ charges }) =>
        accesses().updateOne({ _id: charges[1]?._id ?? '' }, { $set: { state: 'void' } }),
    },
  };

  for (const [name, { seq, plant }] of Object.entries(corruptions)) {
    it(`finds ${name}`, async () => {
      const partner = await busyPartner();
      await plant(partner);
      const [first] = await findings(partner);
      expect(first).toBeDefined();
      expect(first?.seq).toBe(seq);
    });
  }
});

describe('wallets statement', () => {
  it('opens, moves and closes to the cent for any range', async () => {
    const partner = await busyPartner();
    const read = (range: { from?: string; to?: string }) =>
      server.admin.wallets.statement.query({ partnerId: partner.partnerId, ...range });
    const whole = await read({});
    expect(whole.entries.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect([whole.opening, whole.closing]).toEqual([0, 9_900]);

    const times = [...whole.entries.map(({ at }) => at), new Date(Date.now() + 60_000).toISOString()];
    for (const from of times) {
      for (const to of times.filter((time) => time >= from)) {
        const { opening, closing, entries } = await read({ from, to });
        expect(opening + entries.reduce((sum, { amount }) => sum + amount, 0)).toBe(closing);
      }
    }
  });

  it('opens a month with what closed the month before, though times of neighbours are crossed', async () => {
    const partner = await busyPartner();
    const walletId = `${partner.walletId}`;
    const cut = new Date(Date.now() - 60_000);
    const shift = (seq: number, ms: number) =>
      rows().updateOne({ walletId, seq } as never, { $set: { at: new Date(cut.getTime() + ms) } });
    for (const [seq, ms] of [
      [1, -9],
      [2, 2],
      [3, -2],
      [4, 5],
      [5, 9],
    ] as const)
      await shift(seq, ms);
    const read = (range: { from?: string; to?: string }) =>
      server.admin.wallets.statement.query({ partnerId: partner.partnerId, ...range });
    const [before, after] = await Promise.all([
      read({ to: cut.toISOString() }),
      read({ from: cut.toISOString() }),
    ]);
    expect(before.closing).toBe(after.opening);
    expect([...before.entries, ...after.entries].map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  it('goes on page by page, each opening where the one before closed', async () => {
    const partner = await busyPartner();
    const first = await server.admin.wallets.statement.query({ partnerId: partner.partnerId, limit: 2 });
    expect(first.more).toBe(true);
    const second = await server.admin.wallets.statement.query({
      partnerId: partner.partnerId,
      limit: 100,
      afterSeq: first.entries.at(-1)?.seq,
      untilSeq: first.untilSeq,
    });
    expect(second.opening).toBe(first.closing);
    expect(second.entries.map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(second.more).toBe(false);
  });
});
