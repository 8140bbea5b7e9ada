import { afterAll, beforeAll, expect, it } from 'vitest';
import type { LedgerPage } from '../../../server/billing/ledger/ledger-page.ts';
import { createPartner, type TestPartner } from '../../harness/partner.ts';
import { adminToken, manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';

const dayMs = 86_400_000;
const clock = manualClock(Date.UTC(2026, 0, 5, 10, 30));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

const pages = () => server.db.collection<LedgerPage>('ledger');
const mode = 'test' as const;

/** A wallet with the pages 0 to 4. */
async function walletWithEntries() {
  const partner = await createPartner(server);
  const wallet = { partnerId: partner.partnerId, mode };
  for (const amount of [100, 200, 300])
    await server.admin.wallets.adjust.mutate({ ...wallet, amount, reason: 'correction' });
  return { partner, wallet, pageId: (n: number) => `${partner.partnerId}:test/000000000${n}` };
}

async function audit({ partnerId }: TestPartner) {
  const reports = await server.admin.wallets.audit.query({ partnerId });
  return reports.find(({ walletId }) => walletId.endsWith(':test')) ?? expect.unreachable();
}

async function metric(name: string): Promise<number | undefined> {
  const headers = { authorization: `Bearer ${adminToken}` };
  const text = await (await fetch(`${server.adminUrl}/metrics`, { headers })).text();
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${name} `));
  return line === undefined ? undefined : Number(line.split(' ')[1]);
}

it('a finding that no repair mends is acknowledged by an adjustment that names it, and each new finding still fails', async () => {
  const { partner, wallet, pageId } = await walletWithEntries();
  await pages().deleteOne({ _id: pageId(3) });
  const { findings } = await audit(partner);
  expect(findings.map(({ problem }) => problem)).toContain('page 3 is missing');
  const acknowledges = findings.map(({ id }) => id);
  const adjust = (amount: number, ids?: string[]) =>
    server.admin.wallets.adjust.mutate({
      ...{ ...wallet, amount, reason: 'disk fault' },
      ...(ids && { acknowledges: ids }),
    });
  expect(await refusal(adjust(0))).toBe('bad_input');
  expect(await refusal(adjust(0, [`fnd_${'x'.repeat(22)}`]))).toBe('not_found');
  const { id } = await adjust(0, acknowledges);
  const settled = await audit(partner);
  expect(settled.findings).toEqual([]);
  expect(settled.acknowledged).toEqual(findings.map((finding) => ({ ...finding, acknowledgedBy: id })));
  const { partnerId } = partner;
  const since = await server.admin.wallets.audit.query({ partnerId, sinceCheckpoint: true });
  expect(since.flatMap(({ findings: left }) => left)).toEqual([]);
  // The same page is changed again: its findings are others.
  await pages().updateOne({ _id: pageId(4) }, { $set: { 'entries.0.memo.reason': 'another' } });
  expect((await audit(partner)).findings).not.toEqual([]);
});

it('a statement is signed only where the ledger adds up: an acknowledged fault stays one of its period', async () => {
  const { partner, wallet, pageId } = await walletWithEntries();
  const sign = (period: { from?: string; to?: string } = {}) =>
    server.admin.wallets.signedStatement.query({ ...wallet, ...period });
  expect((await sign()).jws).toBeTruthy();
  // The audit of the signature has made a checkpoint behind this page.
  await pages().updateOne({ _id: pageId(2) }, { $set: { 'entries.0.memo.reason': 'another' } });
  await expect(sign()).rejects.toThrow(/signed only where the ledger adds up.*fnd_/);
  const acknowledges = (await audit(partner)).findings.map(({ id }) => id);
  clock.advance(60_000);
  const from = new Date(clock.now()).toISOString();
  await server.admin.wallets.adjust.mutate({ ...wallet, amount: 50, reason: 'goodwill', acknowledges });
  await expect(sign()).rejects.toThrow(/signed only where the ledger adds up/);
  expect((await sign({ from })).jws).toBeTruthy();
});

it('a dry run of a repair lists what would be mended and what would be left, and changes nothing', async () => {
  const { partner, wallet, pageId } = await walletWithEntries();
  await pages().updateOne({ _id: pageId(2) }, { $set: { 'entries.0.memo.reason': 'another' } });
  // Until its events are published, the page still loses its mark.
  await expect.poll(() => pages().countDocuments({ _id: pageId(3), unpublished: true })).toBe(0);
  await pages().updateOne({ _id: pageId(3) }, { $set: { unpublished: true } });
  clock.advance(61_000);
  const plan = await server.admin.wallets.repair.mutate({ partnerId: wallet.partnerId, dryRun: true });
  const ofWallet = plan.find(({ walletId }) => walletId.endsWith(':test'));
  expect(ofWallet?.mended).toContainEqual(expect.objectContaining({ page: 3, mend: 'publish' }));
  expect(ofWallet?.findings).toMatchObject([{ page: 2, problem: 'its content does not match its digest' }]);
  expect(await pages().findOne({ _id: pageId(3) })).toMatchObject({ unpublished: true });
  expect(
    await refusal(
      server.admin.wallets.adjust.mutate({
        ...{ ...wallet, amount: 0, reason: 'none', acknowledges: [ofWallet?.mended[0]?.id ?? ''] },
      }),
    ),
  ).toBe('refused');
  await pages().deleteMany({ walletId: `${partner.partnerId}:test` });
});

it('a worker audits all wallets once a day; a fault is in the metrics and on /ops until it is settled', async () => {
  const { partner, pageId } = await walletWithEntries();
  clock.advance(dayMs);
  await pages().updateOne({ _id: pageId(2) }, { $set: { 'entries.0.memo.reason': 'another' } });
  const faults = server.db.collection<{ _id: string }>('ledgerFaults');
  const walletId = `${partner.partnerId}:test`;
  await server.sweep();
  expect(await faults.findOne({ _id: walletId })).toMatchObject({ findings: 1 });
  const run = await server.db.collection('ledgerAudits').findOne({});
  expect(run).toMatchObject({
    day: new Date(clock.now()).toISOString().slice(0, 10),
    endedAt: expect.any(Date),
  });
  await faults.deleteOne({ _id: walletId });
  await server.sweep();
  expect(await faults.findOne({ _id: walletId })).toBeNull();
  clock.advance(dayMs);
  await audit(partner);
  expect(await metric('svc_ledger_faults')).toBeGreaterThan(0);
  expect(await metric('svc_ledger_audit_age_seconds')).toBe(dayMs / 1000);
  const page = await fetch(`${server.adminUrl}/ops`, {
    headers: { authorization: `Basic ${Buffer.from(`kim:${adminToken}`).toString('base64')}` },
  });
  expect(await page.text()).toMatch(new RegExp(`wallets? do not add up: .*${walletId}`));
});
