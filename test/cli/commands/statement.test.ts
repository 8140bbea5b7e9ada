import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EntryView, StatementView } from '../../../contracts/admin/wallets.ts';
import { decimal } from '../../../contracts/amounts.ts';
import { renderCsv } from '../../../contracts/csv.ts';
import { loadKeyring } from '../../../server/platform/keys/keyring.ts';
import { createSealing } from '../../../server/platform/keys/sealing.ts';
import { addFullPages } from '../../billing/wallets/long-wallet.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';
import { chargedEntry } from './charged-entry.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

async function busyWallet(): Promise<string> {
  const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
  const wallet = { partnerId: id, mode: 'test' as const };
  await server.admin.wallets.fund.mutate({ ...wallet, amount: 10_000, reference: '=cmd()' });
  await server.admin.wallets.adjust.mutate({ ...wallet, amount: -1250, reason: 'double, "funding"' });
  return id;
}

describe('svcadmin wallets statement', () => {
  it('prints entries that add up from the opening to the closing balance', async () => {
    const id = await busyWallet();
    const statement = await svcadmin.json<StatementView>('wallets', 'statement', id);
    const sum = statement.entries.reduce(
      (total: number, { amount }: EntryView) => total + amount,
      statement.opening,
    );
    expect(statement).toMatchObject({ opening: 0, closing: 8750 });
    expect(sum).toBe(statement.closing);
  });

  it('prints with --csv decimal amounts, and escapes text that a spreadsheet would run as a formula', async () => {
    const id = await busyWallet();
    const { stdout } = await svcadmin.run(['wallets', 'statement', id, '--csv']);
    const [headings, opening, funding, adjustment, closing] = stdout.trim().split('\n');
    expect(headings).toBe(
      'seq,at,id,kind,amount,balance_after,currency,reference,reason,session,client,enrollment',
    );
    expect(opening).toBe(',,,opening,,0.00,USD,,,,,');
    expect(funding).toMatch(/^1,\d{4}-\S+Z,txn_\w+,funding,100\.00,100\.00,USD,'=cmd\(\),,,,$/);
    expect(adjustment).toMatch(
      /^2,\S+,txn_\w+,adjustment,-12\.50,87\.50,USD,[^,]*,"double, ""funding""",,,$/,
    );
    expect(closing).toBe(',,,closing,,87.50,USD,,,,,');
  });
});

describe('svcadmin wallets statement --by', () => {
  it('prints the count and the sum of the entries for each value; an unknown column exits with 2', async () => {
    const id = await busyWallet();
    await server.admin.wallets.adjust.mutate({ partnerId: id, mode: 'test', amount: -250, reason: 'again' });
    expect(await svcadmin.json('wallets', 'statement', id, '--by', 'kind')).toEqual([
      { kind: 'adjustment', count: 2, amount: -1500 },
      { kind: 'funding', count: 1, amount: 10_000 },
    ]);
    const csv = await svcadmin.run(['wallets', 'statement', id, '--by', 'kind', '--csv']);
    expect(csv.stderr).toBe('3 entries, the beginning to now (UTC).\n');
    const later = ['--from', '2035-01-01', '--to', '2035-02-01', '--by', 'kind'];
    expect(await svcadmin.run(['wallets', 'statement', id, ...later])).toMatchObject({
      stdout: '',
      stderr: 'Nothing found, 2035-01-01 00:00:00 to 2035-02-01 00:00:00 (UTC).\n',
    });
    expect(csv.stdout).toBe('kind,count,amount\nadjustment,2,-15.00\nfunding,1,100.00\n');
    const unknown = await svcadmin.run(['wallets', 'statement', id, '--by', 'colour']);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('colour is not a column') });
  });
});

describe('svcadmin wallets statement of more entries than one response has', () => {
  it('prints every entry once, with the first opening and the last closing balance', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    await addFullPages(server.db, `${id}:test`, { pages: 9, at: Date.now() });
    const { entries, ...edges } = await svcadmin.json<StatementView>('wallets', 'statement', id);
    expect(edges).toMatchObject({ opening: 0, closing: 1_152 });
    expect(entries.map(({ seq }) => seq)).toEqual(Array.from({ length: 1_152 }, (_, n) => n + 1));
    const { stdout } = await svcadmin.run(['wallets', 'statement', id, '--csv']);
    const lines = stdout.trim().split('\n');
    expect(lines).toHaveLength(1 + 1 + 1_152 + 1);
    expect(lines.at(-1)).toBe(',,,closing,,11.52,USD,,,,,');
  });
});

describe('svcadmin wallets verify', () => {
  const files = temporaryFolder('statement');
  const [jws, jwks] = [join(files, 'june.jws'), join(files, 'keys.json')];

  it('verifies a signed statement offline; a changed one or one of another issuer exits with 5', async () => {
    const id = await busyWallet();
    const { stdout } = await svcadmin.run(['wallets', 'statement', id, '--signed']);
    const keyring = await loadKeyring(server.db, createSealing([new Uint8Array(32).fill(7)]));
    writeFileSync(jws, stdout);
    // With the byte order mark that some editors write.
    writeFileSync(jwks, `\uFEFF${JSON.stringify({ keys: keyring.publicKeys })}`);
    const verify = (...more: string[]) => svcadmin.run(['wallets', 'verify', jws, '--jwks', jwks, ...more]);
    expect(await verify()).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('2 entries, 0.00 → 87.50 USD'),
    });
    expect((await verify()).stdout).toContain(
      'Period: the beginning to the end of the ledger (UTC)\nSigned before the period ended',
    );
    expect(await verify('--issuer', 'https://another.example')).toMatchObject({ code: 5 });

    const [header, payload = '', signature] = stdout.trim().split('.');
    const changed = JSON.parse(Buffer.from(payload, 'base64url').toString());
    changed.closing += 1;
    const text = Buffer.from(JSON.stringify(changed)).toString('base64url');
    writeFileSync(jws, [header, text, signature].join('.'));
    expect(await verify()).toMatchObject({ code: 5, stderr: expect.stringContaining('not genuine') });
    expect((await svcadmin.run(['wallets', 'verify', jws])).code).toBe(2);
    // Such as the answer of a wrong address. It says nothing about the statement.
    writeFileSync(jwks, '{"success":false,"error":"No such path"}');
    expect(await verify()).toMatchObject({ code: 2, stderr: expect.stringContaining(`No keys at ${jwks}`) });
  });
});

describe('in test mode', () => {
  it('wallets adjust changes the balance without --yes', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const adjust = ['wallets', 'adjust', id, '--mode', 'test', '--amount', '7.50', '--reason', 'goodwill'];
    expect(await svcadmin.json(...adjust)).toMatchObject({
      amount: 750,
      balanceAfter: 750,
      reason: 'goodwill',
    });
  });

  it('wallets refund shows the new balance with --dry-run; without --yes it refunds a charge once, but no refund', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const charge = await chargedEntry(server, partnerId, 'test');
    const refund = ['wallets', 'refund', charge, '--reason', 'the answer was lost'];
    expect(await svcadmin.json(...refund, '--dry-run')).toEqual({
      dryRun: true,
      id: charge,
      would: `The test wallet of ${partnerId} goes 0.00 → 0.50 USD.`,
    });
    expect(await svcadmin.json('wallets', 'entry', charge)).toMatchObject({
      ...{ partnerId, mode: 'test', refundable: true, givenBackBy: null },
    });
    const { code, stdout } = await svcadmin.run(refund);
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('0.00 → 0.50 USD') });
    expect(await svcadmin.json('wallets', 'entry', charge)).toMatchObject({
      ...{ refundable: false, givenBackBy: `rev_${charge}` },
    });
    const [again, back, unknown] = await Promise.all([
      svcadmin.json(...refund, '--dry-run'),
      svcadmin.run(['wallets', 'refund', `rev_${charge}`, '--reason', 'r', '--dry-run']),
      svcadmin.run(['wallets', 'refund', 'txn_0000000000000000000000', '--reason', 'r', '--yes']),
    ]);
    expect(again).toMatchObject({
      would: `Nothing moves: ${charge} was given back before, by rev_${charge}.`,
    });
    expect(back).toMatchObject({ code: 5, stderr: expect.stringContaining('not a charge that cost money') });
    expect(unknown.code).toBe(4);
  });
});

describe('svcadmin wallets audit', () => {
  it('exits with 0 for a correct wallet, and with 5 for a wrong balance, and then names the wallet and the page', async () => {
    const id = await busyWallet();
    expect(await svcadmin.json('wallets', 'audit', id)).toMatchObject([{ findings: [] }, { findings: [] }]);
    const pages = server.db.collection<{ _id: string }>('ledger');
    const second = { _id: `${id}:test/0000000001` };
    await pages.updateOne(second, { $inc: { 'state.balance': 1 } });
    const audit = await svcadmin.run(['wallets', 'audit', id]);
    expect(audit.code).toBe(5);
    expect(audit.stdout).toContain(`${id}:test page 1: `);
    await pages.updateOne(second, { $inc: { 'state.balance': -1 } });
    const since = await svcadmin.run(['wallets', 'audit', id, '--since-checkpoint']);
    expect(since).toMatchObject({ code: 0, stdout: expect.stringContaining('nothing new') });
  });

  it('reports on every wallet once, over several pages, if no id is given', async () => {
    for (let made = 0; made < 12; made += 1)
      await server.admin.partners.create.mutate({ name: `Partner ${made}` });
    const reports = await svcadmin.json<{ walletId: string }[]>('wallets', 'audit');
    expect(reports.length).toBe(await server.db.collection('ledger').countDocuments({ n: 0 }));
    expect(new Set(reports.map(({ walletId }) => walletId)).size).toBe(reports.length);
  });
});

describe('renderCsv', () => {
  it('quotes cells with commas or line breaks, and puts an apostrophe before formulas', () => {
    expect(
      renderCsv(
        ['a', 'b'],
        [
          ['x,y', '-1'],
          ['line\nbreak', '@sum'],
          [null, '-x'],
        ],
      ),
    ).toEqual([...['a,b', '"x,y",-1', '"line\nbreak",\'@sum', ",'-x"]]);
    expect([5, -5, 0, 12_345].map(decimal)).toEqual(['0.05', '-0.05', '0.00', '123.45']);
  });
});
