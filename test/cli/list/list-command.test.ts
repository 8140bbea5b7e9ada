import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeShown, describeTotal } from '../../../cli/list/totals.ts';
import { renderListing } from '../../../cli/output/listing.ts';
import { countThrough, divideFilter } from '../../../server/platform/database/reads/look-through.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

const hour = 3_600_000;
const many = 1_203;
const failures = 7;

let server: TestServer;
let svcadmin: CommandLine;
let partnerId: string;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
  ({ id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme, Ltd' }));
  for (const name of ['Bale', 'Cork', 'Dale', '=HYPERLINK()']) {
    await server.admin.partners.create.mutate({ name });
  }
  const now = Date.now();
  const requests = Array.from({ length: many }, (_, n) => ({
    _id: `req_${String(n).padStart(22, '0')}`,
    at: new Date(now - n * 1_000),
    ...{ method: 'POST', route: '/api/oauth/token', durationMs: 3, partnerId },
    status: n < failures ? 402 : 200,
    ...(n < failures ? { error: 'payment_required' } : {}),
    purgeAt: new Date(now + hour),
  }));
  await server.db.collection<{ _id: string }>('requestLog').insertMany(requests);
}, within(60_000));
afterAll(() => server.stop());

const list = (...args: string[]) => svcadmin.run(['requests', 'list', ...args]);

describe('a list command of svcadmin', () => {
  it('states how many of all records are shown, and how to see the others', async () => {
    const { stdout, stderr } = await list();
    expect(stdout.trimEnd().split('\n')).toHaveLength(51);
    const last = 'req_0000000000000000000049';
    expect(stderr).toBe(`50 of 1,203 shown. --all shows all; --after ${last} goes on.\n`);
    const next = await list('--after', last, '--limit', '2');
    expect(next.stderr).toContain('2 of 1,203 shown. --all shows all; --after req_0000000000000000000051');
    const end = await list('--after', 'req_0000000000000000001200');
    expect(end.stderr).toBe('2 of 1,203 shown, the last ones.\n');
  });

  it('names the given filters on stderr, even if nothing is found', async () => {
    const failed = await list('--status', '4XX', '--partner', partnerId);
    expect(failed.stderr).toBe(`7 of 7 shown, only --partner ${partnerId} --status 4xx.\n`);
    const none = await list('--status', '404');
    expect(none).toMatchObject({ code: 0, stderr: 'Nothing found, only --status 404.\n' });
  });

  it('says on stderr with --json that there may be more, if nobody gave the limit', async () => {
    const cut = await list('--json');
    expect(JSON.parse(cut.stdout)).toHaveLength(50);
    expect(cut.stderr).toContain('50 shown; there may be more. --all shows all; --after req_');
    for (const whole of [['--limit', '50'], ['--limit=50'], ['--all'], ['--status', '402']])
      expect((await list('--json', ...whole)).stderr, whole.join(' ')).toBe('');
  });

  it('says what is not kept any more, if its period begins before', async () => {
    const kept = 'is not kept.';
    for (const name of [
      ...['requests list', 'sessions list', 'events list', 'deliveries list', 'deliveries latency'],
    ])
      for (const more of [[], ['--count'], ['--by', 'mode'], ['--json']]) {
        if (name === 'deliveries latency' && more.includes('--count')) continue;
        const by = name === 'requests list' && more.includes('--by') ? ['--by', 'status'] : more;
        const since = (time: string) => svcadmin.run([...name.split(' '), '--since', time, ...by]);
        expect((await since('31d')).stderr, `${name} ${by.join(' ')}`).toContain(kept);
        expect((await since('6d')).stderr, `${name} ${by.join(' ')}`).not.toContain(kept);
      }
    expect((await list('--until', '8d')).stderr).toContain(kept);
    expect((await svcadmin.run(['audit-log', 'list', '--since', '400d'])).stderr).not.toContain(kept);
    const resend = await svcadmin.run([
      ...['deliveries', 'resend', '--partner', partnerId, '--since', '40d', '--yes'],
    ]);
    expect(resend.stderr).toContain(kept);
  });

  it('prints with --by the number and share of records for each value of a column, counted over all pages', async () => {
    const { stdout, stderr } = await list('--by', 'status,error');
    expect(stdout).toBe(
      'status\terror\tcount\tshare\n200\t-\t1196\t99.4 %\n402\tpayment_required\t7\t0.6 %\n',
    );
    expect(stderr).toBe('1,203 records in 2 groups.\n');
    const groups = await svcadmin.json('requests', 'list', '--by', 'error', '--status', '402');
    expect(groups).toEqual([{ error: 'payment_required', count: 7, share: 1 }]);
    const partners = await svcadmin.json('requests', 'list', '--by', 'partnerName', '--status', '402');
    expect(partners).toEqual([{ partnerName: 'Acme, Ltd', count: failures, share: 1 }]);
    const csv = await list('--by', 'status', '--csv', '--status', '4xx');
    expect(csv.stdout).toBe('status,count,share\n402,7,1\n');
    const days = await svcadmin.json<{ at: string; count: number }[]>('requests', 'list', '--by', 'at');
    expect(days.every(({ at }) => /^\d{4}-\d{2}-\d{2}$/.test(at))).toBe(true);
    expect(days.reduce((sum, { count }) => sum + count, 0)).toBe(many);
    expect((await list('--by', 'at,status')).stderr).toMatch(
      /^1,203 records in \d groups\. Days are those of UTC\.\n$/,
    );
    const none = await list('--by', 'status', '--status', '404');
    expect(none).toMatchObject({ code: 0, stdout: '', stderr: 'Nothing found, only --status 404.\n' });
    expect((await list('--by', 'colour')).code).toBe(2);
    expect((await list('--by', 'status', '--count')).code).toBe(2);
  });

  it('prints with --by only as many groups as --limit says, in every format, and says that there are more', async () => {
    const cut = await list('--by', 'id', '--limit', '2');
    expect(cut.stdout.trimEnd().split('\n')).toHaveLength(3);
    expect(cut.stderr).toBe('1,203 records in 1,203 groups; the first 2 are shown.\n');
    const csv = await list('--by', 'status', '--limit', '1', '--csv');
    expect(csv.stdout.trimEnd().split('\n')).toEqual([
      'status,count,share',
      expect.stringMatching(/^200,1196,/),
    ]);
    expect(await svcadmin.json('requests', 'list', '--by', 'id', '--limit', '2')).toHaveLength(2);
    const whole = await list('--by', 'id');
    expect(whole.stdout.trimEnd().split('\n')).toHaveLength(many + 1);
  });

  it('names the values of a column if --where finds no record, and nothing else of a column with many', async () => {
    const wrong = await list('--where', 'status=4O2');
    expect(wrong.stderr).toBe('Nothing found, only --where status=4O2.\nstatus has: 200, 402.\n');
    const counted = await list('--where', 'error=payment', '--by', 'status');
    expect(counted.stderr).toContain('error has: payment_required.');
    const many = await list('--where', 'id=req_1');
    expect(many.stderr).toBe('Nothing found, only --where id=req_1.\n');
    const found = await list('--where', 'status=402');
    expect(found.stderr).not.toContain('status has');
  });

  it('shows with --where only records that meet the conditions, over all pages', async () => {
    const paid = await list('--where', 'status!=402', '--where', 'error=', '--limit', '2', '--columns', 'id');
    expect(paid.stdout).toBe('id\nreq_0000000000000000000007\nreq_0000000000000000000008\n');
    expect(paid.stderr).toBe(
      '2 shown; there may be more, only --where status!=402 --where error=. --all shows all; --after req_0000000000000000000008 goes on.\n',
    );
    const next = await list('--where', 'error=', '--after', 'req_0000000000000000001201');
    expect(next.stdout.split('\n')).toHaveLength(3);
    expect((await list('--where', 'error=', '--count')).stdout).toBe('1196\n');
    const all = await svcadmin.json<object[]>('requests', 'list', '--where', 'error=', '--all');
    expect(all).toHaveLength(many - failures);
    const groups = await svcadmin.json('requests', 'list', '--where', 'partnerName~acme', '--by', 'status');
    expect(groups).toMatchObject([{ count: many - failures }, { count: failures }]);
    const none = await list('--where', 'status=500');
    expect(none.stderr).toBe('Nothing found, only --where status=500.\nstatus has: 200, 402.\n');
    expect(await list('--where', 'colour=red')).toMatchObject({ code: 2, stdout: '' });
  });

  it('prints also the columns that are named in --where', async () => {
    const { stdout } = await list('--where', 'retry after=', '--limit', '1');
    const [headings, row] = stdout.split('\n').map((line) => line.split('\t'));
    expect(headings?.[1]).toBe('retryAfter');
    expect(row?.[1]).toBe('-');
  });

  it('prints all records with --all, over several pages', async () => {
    const rows = await svcadmin.json<{ id: string }[]>('requests', 'list', '--all');
    expect(new Set(rows.map(({ id }) => id)).size).toBe(many);
    const piped = await list('--all');
    expect(piped.stdout.trimEnd().split('\n')).toHaveLength(many + 1);
    expect(piped.stdout.split('id\tat\tstatus')).toHaveLength(2);
    expect(piped.stderr).toBe('1,203 of 1,203 shown.\n');
    expect(await list('--all', '--limit', '3')).toMatchObject({ code: 2 });
  });

  it('prints only the number with --count', async () => {
    expect(await list('--count')).toMatchObject({ code: 0, stdout: `${many}\n`, stderr: '' });
    expect((await list('--count', '--error', 'payment_required')).stdout).toBe(`${failures}\n`);
    expect(await svcadmin.json('requests', 'list', '--count')).toEqual({
      total: many,
      exact: true,
      sampledSince: null,
    });
    expect(await list('--count', '--csv')).toMatchObject({ code: 2, stdout: '' });
  });

  it('counts with --count by reading all pages if the server cannot count with the given filter', async () => {
    const { stdout } = await svcadmin.run(['partners', 'list', '--search', 'ale', '--count', '--limit', '1']);
    expect(stdout).toBe('2\n');
  });

  it('shows the columns in --columns, in any spelling; an unknown column exits with 2', async () => {
    const { stdout } = await list('--columns', 'id, Duration ms,partner_id', '--limit', '1');
    expect(stdout).toBe(`id\tdurationMs\tpartnerId\nreq_${'0'.repeat(22)}\t3\t${partnerId}\n`);
    const wrong = await list('--columns', 'id,price');
    expect(wrong).toMatchObject({ code: 2, stdout: '' });
    expect(wrong.stderr).toContain('price is not a column of this list');
    expect(wrong.stderr).toContain('retryAfter');
  });

  it('prints CSV with --csv, with times in UTC, amounts in dollars and escaped formulas', async () => {
    const { stdout } = await svcadmin.run(['partners', 'list', '--csv']);
    const [headings, ...rows] = stdout.trimEnd().split('\n');
    expect(headings).toBe('id,name,status,created_at');
    expect(rows).toHaveLength(5);
    expect(rows[0]).toMatch(/^ptr_\w{22},'=HYPERLINK\(\),pending,\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    expect(rows.at(-1)).toContain(`${partnerId},"Acme, Ltd",pending`);
    await server.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 123_456, reference: 'F-1' });
    const wallets = ['wallets', 'list', '--mode', 'test', '--csv', '--columns', 'id,balance'];
    expect((await svcadmin.run(wallets)).stdout).toContain(`${partnerId}:test,1234.56\n`);
    expect(await svcadmin.run(['partners', 'list', '--csv', '--json'])).toMatchObject({ code: 2 });
  });

  it('prints the headings and no rows if nothing is found', async () => {
    expect((await list('--status', '404', '--csv', '--columns', 'id,at')).stdout).toBe('id,at\n');
    expect((await list('--status', '404')).stdout).toMatch(/^id\tat\tstatus.*\n$/);
  });

  it('has --count, --columns, --csv and --where for every kind of record, and --all where it has --after', async () => {
    const manifest = new URL('../../../dist/cli/oclif.manifest.json', import.meta.url);
    const { commands } = JSON.parse(await readFile(manifest, 'utf8')) as {
      commands: Record<string, { id: string; flags: object }>;
    };
    const lists = Object.values(commands).filter(
      ({ id }) => /:(list|refused|find)$/.test(id) && id !== 'secrets:find',
    );
    expect(lists.length).toBeGreaterThan(17);
    for (const { id, flags } of lists) {
      const names = Object.keys(flags);
      expect(names, id).toEqual(expect.arrayContaining(['count', 'columns', 'csv', 'where']));
      if (names.includes('after')) expect(names, id).toContain('all');
    }
  });

  it('ends with exit 4 if the record of --after does not exist, for every kind of record', async () => {
    const manifest = new URL('../../../dist/cli/oclif.manifest.json', import.meta.url);
    const { commands } = JSON.parse(await readFile(manifest, 'utf8')) as {
      commands: Record<string, { id: string; flags: object; args: Record<string, { required?: boolean }> }>;
    };
    // These ids have a form that is checked first.
    const unknown: Record<string, string> = {
      'jobs:list': '0'.repeat(24),
      'requests:list': `req_${'z'.repeat(22)}`,
    };
    const paged = Object.values(commands).filter(({ id, flags }) => 'after' in flags && id !== 'users:find');
    expect(paged.length).toBeGreaterThan(17);
    for (const { id, args } of paged) {
      const needed = Object.values(args).filter(({ required }) => required);
      const after = ['--after', unknown[id] ?? 'zzzz'];
      const words = [...id.split(':'), ...needed.map(() => partnerId), ...after];
      const { code, stdout } = await svcadmin.run(words);
      expect({ id, code, stdout }).toEqual({ id, code: 4, stdout: '' });
    }
  });
});

describe('the count of a list of svcadmin', () => {
  it('equals the number of rows of the list', async () => {
    const { admin } = server;
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    await admin.keys.create.mutate({ partnerId, mode: 'live' });
    const common = { partnerId, keyId, name: 'Shop', claims: ['age_18_plus' as const] };
    const uris = { redirectUris: ['http://localhost/back'] };
    const client = await admin.clients.create.mutate({ ...common, ...uris, kind: 'storefront' });
    const shop = { partnerId, clientId: client.id, shops: ['shop.example'] };
    await admin.integrations.create.mutate(shop);
    await admin.operators.create.mutate({ name: 'Kim', role: 'support' });
    const all = { limit: 500 };
    const pairs = [
      [() => admin.partners.list.query(all), () => admin.partners.count.query({})],
      [
        () => admin.partners.list.query({ status: 'active' }),
        () => admin.partners.count.query({ status: 'active' }),
      ],
      [() => admin.keys.list.query({ partnerId }), () => admin.keys.count.query({ partnerId })],
      [() => admin.keys.list.query({ mode: 'live' }), () => admin.keys.count.query({ mode: 'live' })],
      [() => admin.clients.list.query({ keyId }), () => admin.clients.count.query({ keyId })],
      [
        () => admin.integrations.list.query({ partnerId }),
        () => admin.integrations.count.query({ partnerId }),
      ],
      [() => admin.operators.list.query({}), () => admin.operators.count.query({})],
      [
        () => admin.auditLog.list.query({ target: partnerId }),
        () => admin.auditLog.count.query({ target: partnerId }),
      ],
      [() => admin.wallets.list.query({ mode: 'test' }), () => admin.wallets.count.query({ mode: 'test' })],
      [
        () => admin.wallets.list.query({ below: 1_000_000 }),
        () => admin.wallets.count.query({ below: 1_000_000 }),
      ],
      [() => admin.enrollments.list.query({ partnerId }), () => admin.enrollments.count.query({ partnerId })],
      [() => admin.jobs.list.query(all), () => admin.jobs.count.query({})],
      [() => admin.events.list.query({ partnerId }), () => admin.events.count.query({ partnerId })],
    ] as const;
    for (const [rows, total] of pairs) {
      expect(await total()).toEqual({ total: (await rows()).length, exact: true });
    }
    const sessions = { partnerId, status: 'expired' } as const;
    expect(await admin.sessions.count.query(sessions)).toEqual({ total: 0, exact: true });
  });

  it('stops at a limit, and is then shown as "more than"', async () => {
    const requests = server.db.collection<{ _id: string }>('requestLog');
    const divided = divideFilter({ partnerId, status: 402 }, { selective: [], sorted: ['partnerId'] }, 'at');
    expect(divided).toEqual({
      indexed: { partnerId },
      hint: { partnerId: 1, at: -1, _id: -1 },
      rest: { status: 402 },
    });
    expect(await countThrough(requests, divided)).toEqual({ total: failures, exact: true });
    expect(await countThrough(requests, { ...divided, most: 5 })).toEqual({ total: 5, exact: false });
    expect(await countThrough(requests, { indexed: {}, rest: {}, most: many - 1 })).toEqual({
      total: many - 1,
      exact: false,
    });
    const shown = { shown: 50, after: undefined, next: 'x_1', isStopped: false, filters: '' };
    const total = { total: 100_000, exact: false };
    expect(describeTotal(total)).toBe('more than 100000');
    expect(describeShown({ ...shown, total })).toContain('50 of more than 100,000 shown.');
    expect(describeShown({ ...shown, total: undefined })).toContain('50 shown; there may be more.');
    expect(describeShown({ ...shown, total: { total: 50, exact: true } })).toBe('50 of 50 shown.');
  });
});

describe('svcadmin requests refused', () => {
  it('prints with --by the sum of the request counts of its rows', async () => {
    const { stdout, stderr } = await svcadmin.run(['requests', 'refused', '--by', 'partnerName']);
    expect(stdout).toBe(`partnerName\tcount\tshare\nAcme, Ltd\t${failures}\t100 %\n`);
    expect(stderr).toContain('7 records in 1 group');
  });

  it('says on stderr since when requests are counted, also with --csv', async () => {
    const table = await svcadmin.run(['requests', 'refused', '--since', '30d']);
    expect(table.stderr).toContain('Counted since');
    const csv = await svcadmin.run(['requests', 'refused', '--since', '30d', '--csv']);
    expect(csv.stderr).toContain('Counted since');
    expect(csv.stdout).not.toContain('Counted since');
  });

  it('counts with --until only what came before, and refuses a period that ends before it begins', async () => {
    const count = (...period: string[]) => svcadmin.run(['requests', 'refused', '--count', ...period]);
    expect((await count('--since', '2h')).stdout).toBe('1\n');
    expect((await count('--since', '2h', '--until', '1h')).stdout).toBe('0\n');
    expect(await count('--until', '3d')).toMatchObject({ code: 0, stdout: '0\n' });
    const backwards = await count('--since', '1h', '--until', '2h');
    expect(backwards.stderr).toMatch(/The period ends \(.+\) before it begins/);
  });
});

describe('svcadmin keys, clients or integrations list', () => {
  it('shows in oldSecretUntil until when a replaced API key is accepted', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Fair' });
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId });
    const keys = () => svcadmin.run(['keys', 'list', '--partner', partnerId, '--where', 'oldSecretUntil!=']);
    expect((await keys()).stderr).toContain('Nothing found');
    await server.admin.keys.rotate.mutate({ keyId, keepOldSeconds: 3_600 });
    const until = await svcadmin.run([
      ...['keys', 'list', '--partner', partnerId, '--where', 'oldSecretUntil<+2h'],
      ...['--csv', '--columns', 'id,oldSecretUntil'],
    ]);
    expect(until.stdout).toMatch(new RegExp(`^id,old_secret_until\n${keyId},\\d{4}-.*Z\n$`));
  });

  it('shows the name of the partner of each record', async () => {
    const { partners, keys, clients, integrations } = server.admin;
    const { id: partnerId } = await partners.create.mutate({ name: 'Beta & Co' });
    const { id: keyId } = await keys.create.mutate({ partnerId });
    const redirectUris = ['https://acme.example/back'];
    const common = { partnerId, keyId, redirectUris, claims: ['age_18_plus' as const] };
    await clients.create.mutate({ ...common, name: 'Till' });
    const shop = await clients.create.mutate({ ...common, name: 'Shop', kind: 'storefront' });
    await integrations.create.mutate({ partnerId, clientId: shop.id, shops: ['acme.example'] });
    for (const [topic, count] of Object.entries({ keys: 1, clients: 2, integrations: 1 })) {
      const groups = await svcadmin.json(topic, 'list', '--partner', partnerId, '--by', 'partnerName');
      expect(groups, topic).toEqual([{ partnerName: 'Beta & Co', count, share: 1 }]);
      const { stdout } = await svcadmin.run([topic, 'list', '--partner', partnerId]);
      expect(stdout.split('\n')[0], topic).toMatch(/\tpartnerName\t/);
      expect(stdout.split('\n')[1], topic).toMatch(/\tBeta & Co\t/);
    }
  });
});

describe('svcadmin deliveries list', () => {
  it('shows the partner, the last status and the number of attempts', async () => {
    const at = new Date();
    const row = { attempt: 1, trigger: 'event' as const, dueAt: at, at, durationMs: 9 };
    const delivery = {
      ...{ _id: `dlv_${'A'.repeat(22)}`, eventId: `evt_${'A'.repeat(22)}`, type: 'vae.resolved' as const },
      ...{ partnerId, mode: 'test' as const, keyId: `key_${'A'.repeat(22)}`, status: 'failed' as const },
      attempts: [
        { ...row, error: 'refused' as const },
        { ...row, error: 'http' as const, status: 503 },
      ],
      ...{ limit: 3, attempt: 2, trigger: 'event' as const, lane: 'first' as const },
      ...{ createdAt: at, purgeAt: new Date(at.getTime() + hour) },
    };
    await server.db.collection<Delivery>('deliveries').insertOne(delivery);
    const columns = ['--columns', 'id,status,lastStatus,attempts,partnerName'];
    const { stdout } = await svcadmin.run(['deliveries', 'list', ...columns]);
    expect(stdout.split('\n')[1]).toBe(`${delivery._id}\tfailed\t503\t2\tAcme, Ltd`);
    const [json] = await svcadmin.json<{ attempts: unknown[]; partnerName: string }[]>('deliveries', 'list');
    expect(json).toMatchObject({ partnerName: 'Acme, Ltd' });
    expect(json?.attempts).toHaveLength(2);
    expect(await server.admin.deliveries.count.query({ status: 'failed', partnerId })).toMatchObject({
      total: 1,
    });
  });
});

describe('svcadmin bulk list', () => {
  it('accepts --count, --by, --columns and --where', async () => {
    const at = new Date();
    const common = { partnerId, mode: 'test' as const, status: 'failed' as const, attempts: [] };
    // Each job has a key and a delivery of its own, because the first one may end before the second one starts.
    for (const letter of ['B', 'C']) {
      const { id: keyId } = await server.admin.keys.create.mutate({ partnerId });
      await server.admin.webhooks.set.mutate({ keyId, url: 'https://receiver.example/hooks' });
      await server.db.collection<Delivery>('deliveries').insertOne({
        ...{ _id: `dlv_${letter.repeat(22)}`, eventId: `evt_${letter.repeat(22)}`, keyId },
        ...{ type: 'vae.resolved', limit: 3, attempt: 3, trigger: 'event', lane: 'first' },
        ...{ createdAt: at, purgeAt: new Date(at.getTime() + hour), ...common },
      });
      const since = new Date(at.getTime() - hour).toISOString();
      await server.admin.bulk.start.mutate({ action: 'resend', filter: { keyId, since } });
    }
    const bulk = (...args: string[]) => svcadmin.run(['bulk', 'list', ...args]);
    expect(await bulk('--count')).toMatchObject({ code: 0, stdout: '2\n' });
    expect((await bulk('--by', 'action', '--csv')).stdout).toBe('action,count,share\nresend,2,1\n');
    expect((await bulk('--columns', 'action', '--limit', '1')).stdout).toBe('action\nresend\n');
    expect((await bulk('--where', 'action=replay')).stderr).toContain('Nothing found');
  });
});

describe('renderListing', () => {
  it('never cuts an id, whatever the width', () => {
    const row = {
      id: 'ses_4HpTRK4usWlxHuQvvMsCHR',
      sub: 'a-'.repeat(21).padEnd(43, 'b'),
      target: 'x'.repeat(60),
    };
    for (let width = 20; width < 160; width += 1) {
      const { lines } = renderListing([row], { columns: ['id', 'sub', 'target'], dropIfNarrow: [], width });
      const shown = lines.join('\n');
      for (const id of Object.values(row)) {
        const begin = id.slice(0, 5);
        if (shown.includes(begin)) expect(shown).toContain(id);
      }
    }
  });

  it('always shows the reason of a failure, even on a terminal of 80 characters', async () => {
    const { lines } = renderListing(
      [
        {
          ...{ id: 'ses_4HpTRK4usWlxHuQvvMsCHR', createdAt: '2026-07-12T12:03:11Z', status: 'authenticated' },
          ...{ reason: 'document_rejected', mode: 'live', source: 'sandbox', sub: 'a'.repeat(43) },
        },
      ],
      {
        columns: ['id', 'createdAt', 'status', 'reason', 'mode', 'source', 'sub'],
        dropIfNarrow: ['sub', 'source', 'mode', 'createdAt'],
        width: 80,
      },
    );
    expect(lines[1]).toContain('document_rejected');
  });
});
