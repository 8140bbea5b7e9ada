import { Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { digestOf, type LedgerPage } from '../../../server/billing/ledger/ledger-page.ts';
import { draftPage } from '../../../server/billing/ledger/page-builder.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { readLedger } from '../ledger-snapshot.ts';

const clock = manualClock(Date.UTC(2026, 0, 5, 10, 30));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

const pages = () => server.db.collection<LedgerPage>('ledger');
const checkpoints = () => server.db.collection<{ _id: string }>('ledgerCheckpoints');
const cents = (value: number) => Long.fromNumber(value);

/** Pages: opening, funding, three charges, a refund. */
interface Busy extends TestPartner {
  walletId: string;
  pages: LedgerPage[];
}

const charge = async (partner: TestPartner) => {
  expect((await exchangeCode(server, partner, await completeSession(server, partner))).status).toBe(200);
};

async function busyPartner(): Promise<Busy> {
  const partner = await createPartner(server);
  const walletId = `${partner.partnerId}:test`;
  for (let n = 0; n < 3; n += 1) await charge(partner);
  const { charges } = await readLedger(server.db, walletId);
  await server.admin.wallets.refund.mutate({ entryId: charges[0]?.id ?? '', reason: 'goodwill' });
  return { ...partner, walletId, pages: (await readLedger(server.db, walletId)).pages };
}

async function audit({ partnerId }: TestPartner, { sinceCheckpoint = false } = {}) {
  const reports = await server.admin.wallets.audit.query({ partnerId, sinceCheckpoint });
  return reports.find(({ walletId }) => walletId.endsWith(':test')) ?? expect.unreachable();
}
const findings = async (partner: TestPartner, options = {}) => (await audit(partner, options)).findings;

describe('wallets audit', () => {
  it('reports no findings for a wallet with funding, charges and a refund', async () => {
    const report = await audit(await busyPartner());
    expect(report).toMatchObject({ fromPage: 0, lastPage: 5, entries: 6, balance: 9_900, findings: [] });
  });

  it('reports no findings while 20 codes are being exchanged from the wallet', async () => {
    const partner = await createPartner(server);
    const verifications = await Promise.all(
      Array.from({ length: 20 }, () => completeSession(server, partner, 'new-adult')),
    );
    const redeemed = verifications.map((each) =>
      exchangeCode(server, partner, each).then(({ status }) => status),
    );
    for (let n = 0; n < 10; n += 1) expect(await findings(partner)).toEqual([]);
    expect(await Promise.all(redeemed)).toEqual(verifications.map(() => 200));
    expect(await findings(partner)).toEqual([]);
  });

  it('reads only the pages after the last clean audit if sinceCheckpoint is set, and otherwise all pages', async () => {
    const partner = await busyPartner();
    expect(await audit(partner, { sinceCheckpoint: true })).toMatchObject({ fromPage: 0, entries: 6 });
    await charge(partner);
    expect(await audit(partner, { sinceCheckpoint: true })).toMatchObject({
      fromPage: 6,
      lastPage: 6,
      entries: 1,
    });
    expect(await audit(partner, { sinceCheckpoint: true })).toMatchObject({
      fromPage: 7,
      lastPage: 6,
      entries: 0,
    });
    expect(await audit(partner)).toMatchObject({ fromPage: 0, lastPage: 6, entries: 7, findings: [] });
  });
});

/** Changes fields of one page in the database. */
const edit = (page: LedgerPage | undefined, set: Record<string, unknown>) =>
  pages().updateOne({ _id: page?._id ?? '' }, { $set: set as never });

/** Replaces a page by a changed one and corrects all later digests, as an attacker with full write access would. */
async function forge(partner: Busy, n: number, change: (page: LedgerPage) => LedgerPage): Promise<void> {
  let previous = partner.pages[n - 1]?.digest ?? '';
  for (const page of partner.pages.slice(n)) {
    const changed = { ...(page.n === n ? change(page) : page), previous };
    const forged = { ...changed, digest: digestOf(changed) };
    await pages().replaceOne({ _id: page._id }, forged);
    previous = forged.digest;
  }
}

const withEntry = (page: LedgerPage, set: object): LedgerPage => ({
  ...page,
  entries: page.entries.map((entry) => ({ ...entry, ...set })),
});

interface Corruption {
  page: number;
  problem: string;
  plant: (partner: Busy) => Promise<unknown>;
}

const corruptions: Record<string, Corruption> = {
  'an edited amount of an entry': {
    page: 2,
    problem: 'its content does not match its digest',
    plant: (partner) => edit(partner.pages[2], { 'entries.0.amount': cents(-40) }),
  },
  'an edited balance after an entry': {
    page: 3,
    problem: 'the balance is 99.07, but follows as 99.00',
    plant: (partner) => edit(partner.pages[3], { 'entries.0.balanceAfter': cents(9_907) }),
  },
  'an edited balance of the wallet': {
    page: 5,
    problem: 'the page ends with a balance of 100.00, its entries with 99.00',
    plant: (partner) => edit(partner.pages[5], { 'state.balance': cents(10_000) }),
  },
  'an edited sequence number of an entry': {
    page: 2,
    problem: 'its seq is 9, but follows as 2',
    plant: (partner) => edit(partner.pages[2], { 'entries.0.seq': cents(9) }),
  },
  'a deleted page': {
    page: 4,
    problem: 'page 3 is missing',
    plant: (partner) => pages().deleteOne({ _id: partner.pages[3]?._id ?? '' }),
  },
  'a page with the number of another page': {
    page: 7,
    problem: 'its id is not that of its wallet and number',
    plant: (partner) => edit(partner.pages[5], { n: 7 }),
  },
  'two swapped pages': {
    page: 3,
    problem: 'its content does not match its digest',
    async plant({ pages: [, , , third, fourth] }) {
      await pages().deleteMany({ _id: { $in: [third?._id ?? '', fourth?._id ?? ''] } });
      await pages().insertMany([
        { ...(fourth as LedgerPage), _id: third?._id ?? '', n: 3 },
        { ...(third as LedgerPage), _id: fourth?._id ?? '', n: 4 },
      ]);
    },
  },
  'an edited kind of an entry': {
    page: 1,
    problem: 'a charge without the seal of its grant',
    plant: (partner) => edit(partner.pages[1], { 'entries.0.kind': 'token' }),
  },
  'an amount with a fraction of a cent': {
    page: 2,
    problem: 'an amount is not a whole number of cents',
    plant: (partner) => edit(partner.pages[2], { 'entries.0.amount': -50.5 }),
  },
  'a balance with a fraction of a cent': {
    page: 2,
    problem: 'the balance is 0.13, but follows as',
    plant: (partner) => edit(partner.pages[2], { 'entries.0.balanceAfter': 12.5 }),
  },
  'an edited time of a page': {
    page: 4,
    problem: 'its time is before that of the page before',
    plant: (partner) => edit(partner.pages[4], { at: new Date(0) }),
  },
  'an edited count of charges in the minute': {
    page: 4,
    problem: `the minute window has 0 from ${new Date(clock.now()).toISOString().slice(0, 17)}00.000Z, its entries 3 from`,
    plant: (partner) => edit(partner.pages[4], { 'state.minute.used': 0 }),
  },
  'edited spend caps': {
    page: 3,
    problem: 'the spend caps are not those that its entries set',
    plant: (partner) => edit(partner.pages[3], { 'state.caps.perMinute': 1_000_000 }),
  },
  'edited claims in the grant of a charge': {
    page: 2,
    problem: 'the grant does not match its seal',
    plant: (partner) => edit(partner.pages[2], { 'entries.0.grant.claims.age_18_plus': false }),
  },
  'a charge whose grant was removed': {
    page: 3,
    problem: 'the grant of a charge is missing',
    plant: (partner) =>
      pages().updateOne({ _id: partner.pages[3]?._id ?? '' }, { $unset: { 'entries.0.grant': '' } }),
  },
  'a charge whose seal of the grant was removed': {
    page: 3,
    problem: 'a charge without the seal of its grant',
    plant: (partner) =>
      pages().updateOne({ _id: partner.pages[3]?._id ?? '' }, { $unset: { 'entries.0.grantSeal': '' } }),
  },
  'an edited reason of a refund': {
    page: 5,
    problem: 'its content does not match its digest',
    plant: (partner) => edit(partner.pages[5], { 'entries.0.memo.reason': 'another' }),
  },
  'a charge above the spend cap, although all digests match': {
    page: 7,
    problem: 'it exceeds the spend cap of the minute',
    async plant({ partnerId, walletId, pages: known }) {
      await server.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 3 });
      const [before] = (await readLedger(server.db, walletId)).pages.slice(-1);
      const terms = known[2]?.entries[0]?.grant;
      if (!before || !terms) return;
      const caps = { perMinute: 60, perHour: 1_000 };
      const head = { ...before, state: { ...before.state, caps }, asOf: 0 };
      const posting = {
        walletId,
        id: 'txn_over',
        kind: 'token' as const,
        amount: -50,
        grant: { terms, lifetimeSeconds: 60 },
      };
      const { page } = draftPage(head, [posting], clock.now());
      const over = { ...page, state: { ...page.state, caps: before.state.caps } };
      await pages().insertOne({ ...over, digest: digestOf(over) });
    },
  },
  'a refund of another amount than the charge, although all digests match': {
    page: 5,
    problem: 'a refund of 5.00 for a charge of 0.50',
    plant: (partner) =>
      forge(partner, 5, (page) => ({
        ...withEntry(page, { amount: 500, balanceAfter: 10_350 }),
        state: { ...page.state, balance: 10_350 },
      })),
  },
  'a refund of a charge that was never made': {
    page: 5,
    problem: 'a refund of txn_none, which is no charge before it',
    plant: (partner) => forge(partner, 5, (page) => withEntry(page, { memo: { of: 'txn_none' } })),
  },
  'a balance below zero, although all digests match': {
    page: 2,
    problem: 'the balance falls below zero',
    plant: (partner) =>
      forge(partner, 2, (page) => ({
        ...withEntry(page, { amount: -20_000, balanceAfter: -10_000 }),
        state: { ...page.state, balance: -10_000 },
      })),
  },
  'an entry ID that is twice in a page': {
    page: 2,
    problem: 'its id stands twice',
    plant: (partner) =>
      forge(partner, 2, (page) => ({ ...page, entries: [...page.entries, ...page.entries] })),
  },
  'a page without entries': {
    page: 4,
    problem: 'it has 0 entries',
    plant: (partner) => forge(partner, 4, (page) => ({ ...page, entries: [] })),
  },
  'a page whose events are unpublished after a minute': {
    page: 3,
    problem: 'its events were not published: is a sweeper running?',
    async plant(partner) {
      await edit(partner.pages[3], { unpublished: true, at: new Date(clock.now() - 61_000) });
    },
  },
};

/** Restores the one wallet of all corruptions, and removes its audit checkpoint. */
let busy: Busy | undefined;
async function untouched(): Promise<Busy> {
  busy ??= await busyPartner();
  const { walletId } = busy;
  await pages().deleteMany({ walletId });
  await pages().insertMany(busy.pages);
  await checkpoints().deleteOne({ _id: walletId });
  return busy;
}

describe('wallets audit of a ledger that was changed in the database', () => {
  for (const [name, { page, problem, plant }] of Object.entries(corruptions)) {
    it(`reports ${name}`, async () => {
      const partner = await untouched();
      await plant(partner);
      const found = await findings(partner);
      expect(found.map((finding) => finding.problem)).toContainEqual(expect.stringContaining(problem));
      expect(found.find((finding) => finding.problem.includes(problem))?.page).toBe(page);
      expect(found[0]?.page).toBeLessThanOrEqual(page);
    });
  }

  it('reports that all pages were rewritten after an earlier audit', async () => {
    const partner = await untouched();
    expect(await findings(partner)).toEqual([]);
    await forge(partner, 1, (page) => ({ ...page, attempt: 'another' }));
    expect((await findings(partner))[0]).toMatchObject({
      page: 5,
      problem: expect.stringContaining('is not the one that the audit of'),
    });
    expect((await findings(partner, { sinceCheckpoint: true }))[0]?.problem).toContain('is not the one');
  });

  it('reports that the last page is missing if an earlier audit has seen it', async () => {
    const partner = await untouched();
    expect(await findings(partner)).toEqual([]);
    await pages().deleteOne({ _id: partner.pages[5]?._id ?? '' });
    expect((await findings(partner))[0]).toMatchObject({
      page: 5,
      problem: expect.stringContaining('is missing'),
    });
  });

  it('reports a checkpoint of an earlier audit that was changed to name another ledger page', async () => {
    const partner = await untouched();
    expect(await findings(partner)).toEqual([]);
    await checkpoints().updateOne(
      { _id: partner.walletId },
      { $set: { n: 3, digest: partner.pages[3]?.digest } },
    );
    expect((await findings(partner))[0]?.problem).toBe("the checkpoint's seal does not match");
  });
});
