import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeProgress } from '../../../cli/deliveries/progress.ts';
import { BulkDetail, type BulkView, type StartedBulk } from '../../../contracts/admin/bulk.ts';
import type { EndpointView } from '../../../contracts/admin/keys.ts';
import { createBacklogStore } from '../../../server/operations/metrics/backlog-store.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
  receiver = await startReceiver();
});
afterAll(async () => {
  await server.stop();
  receiver.close();
});

/** Creates a key whose events were skipped because the key had no URL. Then gives the key a URL. */
async function keyWithSkipped(count: number): Promise<string> {
  const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
  await server.admin.partners.activate.mutate({ partnerId });
  const { id: keyId } = await server.admin.keys.create.mutate({ partnerId });
  for (let made = 0; made < count; made += 1)
    await server.admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
  const skipped = async () => (await server.admin.deliveries.list.query({ keyId, status: 'skipped' })).length;
  await expect.poll(skipped, { timeout: within(20_000) }).toBe(count);
  await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
  return keyId;
}

const filter = (key: string) => ['--key', key, '--status', 'skipped', '--since', '1h'];

describe('a bulk command over deliveries', () => {
  it('prints the number of events with --dry-run; without it runs as a job with progress, and bulk show lists it', async () => {
    const key = await keyWithSkipped(3);
    const dry = await svcadmin.run(['deliveries', 'resend', ...filter(key), '--dry-run']);
    expect(dry.stdout).toContain('3 events (0 live)');
    expect(await svcadmin.json<BulkView[]>('bulk', 'list')).toEqual([]);
    const { stdout, stderr, code } = await svcadmin.run(['deliveries', 'resend', ...filter(key)]);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('3 of 3, done') });
    const [id = ''] = /blk_\w+/.exec(stdout) ?? [];
    expect(BulkDetail.parse(await svcadmin.json('bulk', 'show', id))).toMatchObject({
      status: 'done',
      done: 3,
    });
    expect(await svcadmin.json<BulkView[]>('bulk', 'list', '--status', 'done')).toMatchObject([{ id }]);
    await expect.poll(() => receiver.received.length, { timeout: within(20_000) }).toBe(3);
    expect(await svcadmin.json('show', id)).toMatchObject({ kind: 'bulkJob' });
    expect((await svcadmin.run(['bulk', 'cancel', id, '--yes'])).code).toBe(5);
  });

  it('continues with --detach after the command has ended, and bulk cancel stops it', async () => {
    const key = await keyWithSkipped(5);
    const slow = ['--rate', '1/s', '--detach'];
    const started = await svcadmin.json<BulkView>('deliveries', 'resend', ...filter(key), ...slow);
    expect(started).toMatchObject({ status: 'running', total: 5 });
    // The time of `--since 1h` has moved on.
    expect(await svcadmin.json('deliveries', 'resend', ...filter(key), ...slow)).toMatchObject({
      id: started.id,
    });
    expect(await svcadmin.json('bulk', 'cancel', started.id, '--yes')).toMatchObject({ status: 'cancelled' });
  });

  it('sends to another URL with --to: a named delivery, and those of a filter; --dry-run names the URL', async () => {
    const key = await keyWithSkipped(2);
    const to = new URL('/other', receiver.url).href;
    const [one] = await server.admin.deliveries.list.query({ keyId: key });
    const resend = ['deliveries', 'resend', one?.id ?? '', '--to', to];
    expect((await svcadmin.run([...resend, '--dry-run'])).stderr).toContain(`again to ${to}: 1`);
    expect(await svcadmin.json(...resend)).toMatchObject([{ to, resendOf: one?.id }]);
    const all = ['deliveries', 'resend', ...filter(key), '--to', to];
    expect((await svcadmin.run([...all, '--dry-run'])).stdout).toContain(`is sent again to ${to}`);
    expect(await svcadmin.json(...all)).toMatchObject({ status: 'done', to });
    const isThere = () => receiver.received.filter(({ path }) => path === '/other').length;
    await expect.poll(isThere, { timeout: within(20_000) }).toBe(2);
    const elsewhere = await svcadmin.run([
      'deliveries',
      'resend',
      one?.id ?? '',
      '--to',
      'http://a.example/',
    ]);
    expect(elsewhere).toMatchObject({ code: 5, stderr: expect.stringContaining('http://localhost') });
  });

  it('starts no job if no delivery matches, or if an argument is wrong (exit 2)', async () => {
    const key = await keyWithSkipped(1);
    const none = await svcadmin.json<StartedBulk>('deliveries', 'cancel', '--key', key);
    expect(none).toMatchObject({ total: 0, job: null });
    const text = `Nothing found, only --key ${key} --mode live`;
    for (const [command, more] of [
      ['deliveries cancel', ''],
      ['deliveries resend --since 2026-07-01', ' --since 2026-07-01 00:00:00+02:00 --status failed'],
      ['deliveries hold --for 2h', ''],
      ['deliveries reschedule --in 2h', ''],
    ] as const) {
      const { code, stderr } = await svcadmin.run([...command.split(' '), '--key', key, '--mode', 'live']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`${text}${more}.\n`) });
    }
    const noReplay = ['webhooks', 'replay', key, '--event', 'enrollment.created', '--since', '1h'];
    expect((await svcadmin.run(noReplay)).stderr).toContain(
      `Nothing found, only --key ${key} --event enrollment.created --since`,
    );
    for (const wrong of [
      ['resend', '--key', key],
      ['resend', ...filter(key), '--rate', '0/s'],
      ['cancel'],
      ['cancel', 'dlv_1', '--key', key],
      ['reschedule', '--key', key],
    ])
      expect((await svcadmin.run(['deliveries', ...wrong])).code).toBe(2);
    const replay = ['webhooks', 'replay', key, '--since', '1h'];
    expect((await svcadmin.run(replay)).code).toBe(2);
    expect(await svcadmin.json<BulkView>(...replay, '--yes')).toMatchObject({ status: 'done', done: 1 });
    expect((await svcadmin.run([...replay, '--yes'])).code).toBe(5);
  });
});

describe('svcadmin webhooks pause', () => {
  it('needs --yes; until webhooks resume, waiting deliveries do not count as late', async () => {
    const key = await keyWithSkipped(1);
    const paused = ['webhooks', 'pause', key, '--until', '2h'];
    expect((await svcadmin.run(paused)).code).toBe(2);
    expect((await svcadmin.run([...paused, '--dry-run'])).stdout).toContain('wait, and are sent after');
    const { pausedUntil } = await svcadmin.json<EndpointView>(...paused, '--yes');
    expect(Date.parse(pausedUntil ?? '') - Date.now()).toBeGreaterThan(7_000_000);
    const before = receiver.received.length;
    const { id } = await server.admin.webhooks.trigger.mutate({ keyId: key, event: 'vae.resolved' });
    const waits = async () => (await server.admin.deliveries.show.query({ deliveryId: id })).waiting;
    await expect.poll(waits, { timeout: within(20_000) }).toBe('paused');
    await server.db
      .collection<{ _id: string }>('deliveries')
      .updateOne({ _id: id }, { $set: { nextAttemptAt: new Date(Date.now() - 60_000) } });
    const { deliveries } = await createBacklogStore(server.db).read(Date.now());
    expect(deliveries).toMatchObject({ late: 0 });
    expect(deliveries.oldestDueAt).toBeUndefined();
    expect(await svcadmin.json('webhooks', 'resume', key)).toMatchObject({ pausedUntil: null });
    await expect.poll(() => receiver.received.length, { timeout: within(20_000) }).toBe(before + 1);
    const entries = await server.admin.auditLog.list.query({ target: key });
    const pauses = entries.filter(({ action }) => action !== 'webhooks.trigger');
    expect(pauses.slice(0, 2)).toMatchObject([
      { action: 'webhooks.resume', after: { pausedUntil: null } },
      { action: 'webhooks.pause', after: { pausedUntil: expect.anything() } },
    ]);
  });

  it('is refused for an end that has passed (exit 2), or that is 8 days ahead (exit 5)', async () => {
    const key = await keyWithSkipped(0);
    for (const until of ['2020-01-01', 'tomorrow'])
      expect((await svcadmin.run(['webhooks', 'pause', key, '--until', until, '--yes'])).code).toBe(2);
    expect((await svcadmin.run(['webhooks', 'pause', key, '--until', '8d', '--yes'])).code).toBe(5);
  });
});

it('describeProgress returns done, total and omitted deliveries, and the endpoint for which the job waits', () => {
  const now = Date.parse('2026-07-01T00:00:00Z');
  const part = { keyId: 'key_1', partnerId: 'ptr_1', mode: 'test', total: 4, done: 1, leftOut: 1 } as const;
  const job: BulkView = {
    ...{ id: 'blk_1', action: 'resend', status: 'running', total: 4, exact: false, done: 1, leftOut: 1 },
    ...{ rate: 1, filter: {}, at: null, to: null, expectedEndAt: '2026-07-01T00:00:03Z' },
    ...{ operatorId: 'opr_1', operatorName: 'Ada', createdAt: '2026-07-01T00:00:00Z', endedAt: null },
    keys: [{ ...part, finished: false, waits: null }],
  };
  expect(describeProgress(job, now)).toBe(
    `[########${'-'.repeat(22)}] 1 of at most 4, 1 left out, about 3 s left`,
  );
  const waits = { ...job, keys: [{ ...part, finished: false, waits: 'endpoint_behind' as const }] };
  expect(describeProgress(waits, now)).toContain('waits for the endpoint of key_1');
  expect(describeProgress({ ...job, status: 'done', expectedEndAt: null }, now)).toContain(', done');
});
