import { Long } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LedgerPage } from '../../../server/billing/ledger/ledger-page.ts';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../../harness/partner.ts';
import { manualClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { readLedger } from '../ledger-snapshot.ts';

const clock = manualClock();
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock, replacements: { sweepsByHand: true } });
});
afterAll(() => server.stop());

const ledger = () => server.db.collection<LedgerPage>('ledger');

async function charge(partner: TestPartner): Promise<string> {
  const answer = await exchangeCode(server, partner, await completeSession(server, partner));
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { access_token: string }).access_token;
}

/** Pages: opening, funding, three charges. */
async function chargedPartner() {
  const partner = await createPartner(server);
  const tokens = [await charge(partner), await charge(partner), await charge(partner)];
  const walletId = `${partner.partnerId}:test`;
  const unpublished = () => ledger().countDocuments({ walletId, unpublished: true });
  await expect.poll(unpublished).toBe(0);
  const { pages } = await readLedger(server.db, walletId);
  return { ...partner, tokens, walletId, pages };
}
type Charged = Awaited<ReturnType<typeof chargedPartner>>;

const edit = ({ pages }: Charged, n: number, update: object) =>
  ledger().updateOne({ _id: pages[n]?._id ?? '' }, update);

const ofTestWallet = <Report extends { walletId: string }>(reports: readonly Report[]): Report =>
  reports.find(({ walletId }) => walletId.endsWith(':test')) ?? expect.unreachable();

const audit = async ({ partnerId }: TestPartner) =>
  ofTestWallet(await server.admin.wallets.audit.query({ partnerId }));
const repair = async ({ partnerId }: TestPartner) =>
  ofTestWallet(await server.admin.wallets.repair.mutate({ partnerId }));

const userinfo = async (token: string) =>
  (await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } }))
    .status;

it('wallets repair ends access to altered claims, publishes events and deletes a wrong checkpoint, but changes no amount', async () => {
  const partner = await chargedPartner();
  expect((await audit(partner)).findings).toEqual([]);
  const { entries } = await readLedger(server.db, partner.walletId);
  await edit(partner, 2, { $set: { 'entries.0.grant.claims.age_18_plus': false } });
  await edit(partner, 3, { $unset: { 'entries.0.grant': '' } });
  await edit(partner, 4, { $set: { unpublished: true } });
  await server.db.collection('ledgerCheckpoints').updateMany({}, { $set: { n: 1 } });
  clock.advance(120_000);

  const found = (await audit(partner)).findings.map(({ mend }) => mend);
  expect(found.toSorted()).toEqual(['endAccess', 'endAccess', 'forgetCheckpoint', 'publish']);
  const { mended, findings, balance } = await repair(partner);
  expect(mended).toHaveLength(4);
  expect([findings, balance]).toEqual([[], 9_850]);
  expect((await audit(partner)).findings).toEqual([]);
  expect(await Promise.all(partner.tokens.map(userinfo))).toEqual([401, 401, 200]);
  const after = (await readLedger(server.db, partner.walletId)).entries;
  const money = (list: typeof entries) => list.map(({ id, kind, amount, seq }) => [id, kind, amount, seq]);
  expect(money(after)).toEqual(money(entries));

  const log = await server.admin.auditLog.list.query({ target: partner.walletId, action: 'wallets.repair' });
  expect(log.map((entry) => entry.after?.['mended'])).toEqual([mended]);
  expect(await repair(partner)).toMatchObject({ mended: [], findings: [] });
  expect(
    await server.admin.auditLog.list.query({ target: partner.walletId, action: 'wallets.repair' }),
  ).toHaveLength(1);
});

it('wallets repair leaves an altered entry and its checkpoint unchanged, so that audits still report the entry', async () => {
  const partner = await chargedPartner();
  await audit(partner);
  await edit(partner, 2, { $set: { 'entries.0.amount': Long.fromNumber(-40), digest: 'another' } });
  await edit(partner, 4, { $set: { digest: 'another' } });
  const before = (await audit(partner)).findings;
  expect(before.some(({ mend }) => mend === 'forgetCheckpoint')).toBe(true);
  const { mended, findings } = await repair(partner);
  expect(mended).toEqual([]);
  expect(findings).toEqual(before);
});
