import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLedgerStore } from '../../../server/billing/ledger/ledger-store.ts';
import { draftPage } from '../../../server/billing/ledger/page-builder.ts';
import { type CommandLine, commandLine } from '../../cli/svcadmin.ts';
import { createPartner } from '../../harness/partner.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../../harness/server.ts';

const clock = manualClock(Date.UTC(2026, 4, 1));
let server: TestServer;
let svcadmin: CommandLine;
let one: string;
let two: string;
beforeAll(async () => {
  server = await startTestServer({ clock });
  svcadmin = await commandLine(server.adminUrl);
  [one, two] = [
    (await createPartner(server, { funds: 100_000 })).partnerId,
    (await createPartner(server, { funds: 100_000 })).partnerId,
  ];
  await addPage(`${one}:test`, '2026-05-31T23:59:59Z', { kind: 'token', amount: -50 });
  await addPage(`${one}:test`, '2026-06-01T00:00:00Z', { kind: 'token', amount: -40 });
  await addPage(`${one}:test`, '2026-06-02T00:00:00Z', { kind: 'storefront', amount: -30 });
  await addPage(`${one}:test`, '2026-06-03T00:00:00Z', { kind: 'adjustment', amount: -3_000 });
  await addPage(`${one}:test`, '2026-07-01T00:00:00Z', { kind: 'refund', amount: 40 });
  await addPage(`${two}:test`, '2026-06-30T23:59:59Z', { kind: 'token', amount: -50 });
});
afterAll(() => server.stop());

type Entry = { kind: 'token' | 'storefront' | 'adjustment' | 'refund'; amount: number };

/** Adds a page with this entry at the time `at`. */
async function addPage(walletId: string, at: string, entry: Entry): Promise<void> {
  const store = createLedgerStore(server.db);
  const last = (await store.head(walletId)) ?? expect.fail('no wallet');
  const { page } = draftPage({ ...last, asOf: 0 }, [{ walletId, id: at, ...entry }], Date.parse(at));
  expect(await store.insert([page])).toEqual(['inserted']);
}

describe('svcadmin revenue', () => {
  it('adds up charges and refunds of all partners by month in UTC, mode and kind, and no other entries', async () => {
    expect(await svcadmin.json('revenue', '--from', '2026-05-01', '--to', '2026-08-01')).toEqual([
      { month: '2026-05', mode: 'test', kind: 'token', count: 1, amount: 50 },
      { month: '2026-06', mode: 'test', kind: 'storefront', count: 1, amount: 30 },
      { month: '2026-06', mode: 'test', kind: 'token', count: 2, amount: 90 },
      { month: '2026-07', mode: 'test', kind: 'refund', count: 1, amount: -40 },
    ]);
  });

  it('takes one month, one mode and other columns, and writes CSV with decimal dollars', async () => {
    const june = ['revenue', '--month', '2026-06'];
    const csv = await svcadmin.run([...june, '--by', 'partnerId', '--csv']);
    const lines = [`${one},2,0.70`, `${two},1,0.50`].sort();
    expect(csv.stdout.trim().split('\n')).toEqual(['partner_id,count,amount', ...lines]);
    expect(csv.stderr).toBe('1.20 USD in all, 2026-06-01 00:00:00 to 2026-07-01 00:00:00 (UTC).\n');
    expect(await svcadmin.json(...june, '--mode', 'live')).toEqual([]);
    expect(await svcadmin.json(...june, '--by', 'kind', '--partner', two)).toEqual([
      { kind: 'token', count: 1, amount: 50 },
    ]);
    expect((await svcadmin.run([...june, '--by', 'colour'])).code).toBe(2);
    expect((await svcadmin.run(['revenue', '--month', 'June'])).code).toBe(2);
  });

  it('compares with the span of the same length before, what grew most at the top', async () => {
    const spans = ['revenue', '--from', '2026-06-02', '--to', '2026-07-02', '--compare'];
    const grown = [
      { mode: 'test', count: 1, amount: 50, amountBefore: 0, change: null },
      { mode: 'test', count: 2, amount: -10, amountBefore: 90, change: -0.11 },
    ];
    const names = [`Acme Cinema (${two})`, `Acme Cinema (${one})`];
    const whole = await svcadmin.json<Record<string, unknown>[]>(...spans);
    expect(whole).toEqual(grown.map((row, index) => ({ ...row, partnerName: names[index] })));
    const csv = await svcadmin.run([...spans, '--by', 'kind', '--csv']);
    expect(csv.stdout.trim().split('\n')).toEqual([
      'kind,count,amount,amount_before,change',
      'storefront,1,0.30,0.00,',
      'refund,1,-0.40,0.00,',
      'token,1,0.50,0.90,0.56',
    ]);
    expect(csv.stderr).toBe(
      '0.40 USD in all, 2026-06-02 00:00:00 to 2026-07-02 00:00:00 (UTC), 0.90 in the span before, 2026-05-03 00:00:00 to 2026-06-02 00:00:00 (UTC).\n',
    );
    expect(await svcadmin.run([...spans, '--by', 'month'])).toMatchObject({ code: 2 });
  });

  it('compares only what has passed of a span that ends in the future, and refuses one that has not begun', async () => {
    const spans = ['revenue', '--from', '1h', '--to', '2099-01-01', '--compare'];
    expect(await svcadmin.json(...spans)).toEqual([]);
    // What has passed is about an hour, so the span before begins about two hours ago.
    const { stderr } = await svcadmin.run(spans);
    const [, ofSpan = '', ofBefore = '', end = ''] =
      /, (\S+ \S+) to 2099-\S+ \S+ \(UTC\), nor in the span before, (\S+ \S+) to (\S+ \S+) \(UTC\)\.$/.exec(
        stderr.trim(),
      ) ?? expect.fail(stderr);
    expect(end).toBe(ofSpan);
    const [begin = 0, before = 0] = [ofSpan, ofBefore].map((text) => Date.parse(`${text}Z`));
    expect(begin - before).toBeGreaterThanOrEqual(3_599_000);
    expect(begin - before).toBeLessThan(3_700_000);
    const future = await svcadmin.run(['revenue', '--from', '2099-01-01', '--compare']);
    expect(future).toMatchObject({ code: 2, stderr: expect.stringContaining('has not begun') });
  });

  it('says of which period and filter there is nothing, instead of a sum of zero', async () => {
    const live = await svcadmin.run(['revenue', '--from', '2026-06-01', '--mode', 'live']);
    expect(live.stdout).toBe('');
    expect(live.stderr).toContain(
      'No charge and no refund, 2026-06-01 00:00:00 to now (UTC), only --mode live.\n',
    );
    const presentMonth = new Date().toISOString().slice(0, 'YYYY-MM'.length);
    const present = await svcadmin.run(['revenue', '--partner', two]);
    expect(present.stderr).toContain(`${presentMonth}-01 00:00:00 to now (UTC)`);
  });

  it('reads all wallets in pages; an unknown partner or wallet is not_found', async () => {
    const from = '2026-05-01T00:00:00Z';
    const { revenue } = server.admin;
    const whole = await revenue.show.query({ from });
    expect(whole.stoppedAfter).toBeNull();
    const rows = [];
    for (let after: string | undefined; ; ) {
      const part = await revenue.show.query({ from, limit: 1, after });
      rows.push(...part.rows);
      if (part.stoppedAfter === null) break;
      after = part.stoppedAfter;
    }
    expect(rows).toEqual(whole.rows);
    expect(await refusal(revenue.show.query({ from, partnerId: 'ptr_none' }))).toBe('not_found');
    expect(await refusal(revenue.show.query({ from, after: 'ptr_none:test' }))).toBe('not_found');
  });
});
