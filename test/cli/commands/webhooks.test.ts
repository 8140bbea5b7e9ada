import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { BulkView } from '../../../contracts/admin/bulk.ts';
import { DeliveryView } from '../../../contracts/admin/deliveries.ts';
import { EventDetail, EventTimeline, ListedEvent } from '../../../contracts/admin/events.ts';
import { JobDetail, JobView } from '../../../contracts/admin/jobs.ts';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import { startReceiver } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { type CommandLine, commandLine, executable } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let receiverUrl: string;
const received = () =>
  receiver.received.map(({ path, headers, body }) => ({
    path,
    body,
    signature: String(headers['x-svc-signature']),
    eventId: String(headers['x-svc-event-id']),
  }));

beforeAll(async () => {
  server = await startTestServer({ replacements: { pace: { jobsEvery: 100 } } });
  svcadmin = await commandLine(server.adminUrl);
  receiver = await startReceiver((_count, request, response) => {
    if (request.url === '/refused') response.writeHead(401).end('wrong signature');
    else response.writeHead(request.url === '/broken' ? 500 : 204).end();
  });
  receiverUrl = `http://localhost:${receiver.port}`;
});
afterAll(async () => {
  await server.stop();
  receiver.close();
});

async function keyWithEndpoint(path: string): Promise<string> {
  const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
  await server.admin.partners.activate.mutate({ partnerId });
  const { id: keyId } = await server.admin.keys.create.mutate({ partnerId });
  await server.admin.webhooks.set.mutate({ keyId, url: `${receiverUrl}${path}` });
  return keyId;
}

const settled = (key: string, status: string) =>
  expect
    .poll(async () => (await server.admin.deliveries.list.query({ keyId: key }))[0]?.attempts[0]?.status)
    .toBe(Number(status));

describe('svcadmin webhooks health', () => {
  it('shows the partner and the status of the last attempt, although another status was more frequent', async () => {
    const key = await keyWithEndpoint('/ok');
    const send = () => svcadmin.json('webhooks', 'test', key);
    for (let sent = 0; sent < 3; sent += 1) await send();
    await server.admin.webhooks.set.mutate({ keyId: key, url: `${receiverUrl}/broken` });
    await svcadmin.run(['webhooks', 'test', key]);
    const { stdout } = await svcadmin.run(['webhooks', 'health', key, '--columns', 'partnerName,lastAnswer']);
    expect(stdout).toBe('partnerName\tlastAnswer\nAcme\t500\n');
    const states = await svcadmin.json('webhooks', 'health', key, '--by', 'state');
    expect(states).toEqual([{ state: 'failing', count: 1, share: 1 }]);
    const one = await svcadmin.run(['webhooks', 'health', key]);
    expect(one.stderr).toContain("The receiver's own code fails");
    expect(one.stderr).toContain(`then: svcadmin webhooks test ${key}`);
  });

  it('gives the advice for the exact fault of the last attempt', async () => {
    const key = await keyWithEndpoint('/broken');
    await svcadmin.run(['webhooks', 'test', key]);
    const deliveries = server.db.collection('deliveries');
    await deliveries.updateOne(
      { keyId: key },
      {
        $set: { 'attempts.0.error': 'tls', 'attempts.0.detail': 'CERT_HAS_EXPIRED' },
        $unset: { 'attempts.0.status': '' },
      },
    );
    const { stderr } = await svcadmin.run(['webhooks', 'health', key]);
    expect(stderr).toContain(
      `The receiver's certificate has expired. Have the partner renew it, then: svcadmin webhooks test ${key}`,
    );
    expect(await svcadmin.json('webhooks', 'health', key)).toMatchObject([
      { lastFault: { error: 'tls', detail: 'CERT_HAS_EXPIRED' } },
    ]);
  });

  it('says that an endpoint is slow before it times out, with the advice that a timeout would have', async () => {
    const key = await keyWithEndpoint('/ok');
    await svcadmin.json('webhooks', 'test', key);
    const last = { $set: { 'attempts.0.durationMs': 9_900 } };
    await server.db.collection('deliveries').updateOne({ keyId: key }, last);
    const { stdout, stderr } = await svcadmin.run(['webhooks', 'health', key]);
    expect(stdout).toMatch(/State +slow/);
    expect(stderr).toContain('answer at once and work afterwards');
  });
});

describe('svcadmin', () => {
  it('webhooks trigger makes an event, which events list, show and why and deliveries show and list return', async () => {
    const key = await keyWithEndpoint('/ok');
    const { eventId, id } = DeliveryView.parse(
      await svcadmin.json('webhooks', 'trigger', 'vae.resolved', '--key', key),
    );
    await settled(key, '204');
    const [event] = await svcadmin.json<unknown[]>('events', 'list', '--key', key);
    expect(ListedEvent.parse(event)).toMatchObject({
      id: eventId,
      event: 'vae.resolved',
      status: 'delivered',
    });
    const shown = EventDetail.parse(await svcadmin.json('events', 'show', eventId));
    expect(received().find((request) => request.eventId === eventId)?.body).toBe(shown.body);
    expect(EventTimeline.parse(await svcadmin.json('events', 'why', eventId))).toMatchObject({
      advice: null,
    });
    const [attempt, ...others] = DeliveryView.parse(await svcadmin.json('deliveries', 'show', id)).attempts;
    expect([attempt?.status, others]).toEqual([204, []]);
    expect(attempt?.url).toMatch(/^http:\/\/localhost:/);
    const { stdout } = await svcadmin.run(['deliveries', 'show', id]);
    expect(stdout).toContain(`Sent to ${attempt?.url}: attempt 1\n`);
    const listed = await svcadmin.json(
      ...['deliveries', 'list', '--key', key, '--status', 'delivered', '--since', '1h'],
    );
    expect(listed).toMatchObject([{ id }]);
  });

  it('deliveries resend sends the same event_id again; with --dry-run it sends nothing', async () => {
    const key = await keyWithEndpoint('/ok');
    const { eventId, id } = await server.admin.webhooks.trigger.mutate({
      keyId: key,
      event: 'enrollment.created',
    });
    await settled(key, '204');
    const count = () => received().filter((request) => request.eventId === eventId).length;
    const dry = await svcadmin.json('deliveries', 'resend', id, '--dry-run');
    expect(dry).toMatchObject([{ id }]);
    expect(count()).toBe(1);
    expect(await svcadmin.json('deliveries', 'resend', id)).toMatchObject([{ resendOf: id }]);
    await expect.poll(count).toBe(2);
    expect((await svcadmin.run(['deliveries', 'resend'])).code).toBe(2);
    expect((await svcadmin.run(['deliveries', 'resend', id, '--key', key])).code).toBe(2);
  });

  /** Makes a delivery whose first attempt failed. Returns its id and the id of the job for its second attempt. */
  async function waitingForJob() {
    const key = await keyWithEndpoint('/broken');
    const { id } = await server.admin.webhooks.trigger.mutate({ keyId: key, event: 'vae.resolved' });
    await settled(key, '500');
    const { jobs } = server.admin;
    const jobOf = async () => {
      const all = await jobs.list.query({});
      const shown = await Promise.all(all.map((job) => jobs.show.query({ jobId: job.id })));
      return shown.find(({ deliveryIds }) => deliveryIds.includes(id));
    };
    await expect.poll(jobOf).toBeDefined();
    return { id, jobId: (await jobOf())?.id ?? '' };
  }

  it('jobs show names a delivery that waits for its next attempt, and deliveries cancel skips that delivery', async () => {
    const { id, jobId } = await waitingForJob();
    for (const job of await svcadmin.json<JobView[]>('jobs', 'list')) JobView.parse(job);
    const shown = JobDetail.parse(await svcadmin.json('jobs', 'show', jobId));
    expect(shown).toMatchObject({ name: 'webhook.attempts', state: 'scheduled', lockedBy: null });
    expect(shown.deliveryIds).toContain(id);
    expect(await svcadmin.json('deliveries', 'cancel', id)).toMatchObject({
      status: 'skipped',
      skipped: 'cancelled',
    });
  });

  it('jobs cancel skips the deliveries of a job with --yes; else it only names them (exit 2, or 0 with --dry-run)', async () => {
    const { id, jobId } = await waitingForJob();
    const asked = await svcadmin.run(['jobs', 'cancel', jobId]);
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining(`attempt 2 of ${id}`) });
    const dry = await svcadmin.json('jobs', 'cancel', jobId, '--dry-run');
    expect(dry).toMatchObject({ dryRun: true, id: jobId, deliveryIds: [id] });
    expect(await svcadmin.json('deliveries', 'show', id)).toMatchObject({ status: 'pending' });
    expect(await svcadmin.json('jobs', 'cancel', jobId, '--yes')).toMatchObject({
      id: jobId,
      deliveryIds: [id],
    });
    expect(await svcadmin.json('deliveries', 'show', id)).toMatchObject({ status: 'skipped' });
    expect((await svcadmin.run(['jobs', 'cancel', jobId, '--yes'])).code).toBe(4);
  });

  it('deliveries reschedule moves the next attempt of one delivery; a wrong time exits with 2', async () => {
    const { id } = await waitingForJob();
    const at = new Date(Date.now() + 3_600_000).toISOString();
    expect(await svcadmin.json('deliveries', 'reschedule', id, '--at', at)).toMatchObject({
      id,
      status: 'pending',
      nextAttemptAt: at,
    });
    for (const time of [[], ['--in', '1h', '--at', at], ['--at', '2020-01-01'], ['--at', 'soon']])
      expect((await svcadmin.run(['deliveries', 'reschedule', id, ...time])).code).toBe(2);
  });

  it('deliveries reschedule with a filter and --in 0s makes the attempts due at once, and they are sent without a sweep', async () => {
    const { id } = await waitingForJob();
    const { keyId } = await server.admin.deliveries.show.query({ deliveryId: id });
    const command = ['deliveries', 'reschedule', '--key', keyId, '--in', '0s', '--yes', '--detach'];
    const { at, createdAt } = await svcadmin.json<BulkView>(...command);
    expect(at).toBe(createdAt);
    await expect
      .poll(async () => (await server.admin.deliveries.show.query({ deliveryId: id })).attempts.length)
      .toBe(2);
  });

  it('deliveries hold moves the attempts of a delivery or of a filter to the end of the hold, which --dry-run names', async () => {
    const { id } = await waitingForJob();
    const { keyId } = await server.admin.deliveries.show.query({ deliveryId: id });
    const until = new Date(Date.now() + 7_200_000).toISOString();
    const all = ['deliveries', 'hold', '--key', keyId, '--until', until];
    const { stdout } = await svcadmin.run([...all, '--dry-run']);
    expect(stdout).toMatch(/1 pending delivery \(0 live\): each gets another time, from .* on/);
    expect(await svcadmin.json(...all, '--yes')).toMatchObject({ status: 'done', done: 1, at: until });
    const { nextAttemptAt } = await server.admin.deliveries.show.query({ deliveryId: id });
    expect(nextAttemptAt).toBe(until);
    const held = await svcadmin.json<DeliveryView>('deliveries', 'hold', id, '--for', '4h');
    expect(Date.parse(held.nextAttemptAt ?? '')).toBeGreaterThan(Date.parse(until));
    for (const wrong of [
      [id],
      [id, '--until', '2020-01-01'],
      [id, '--key', keyId, '--for', '1h'],
      ['--for', '1h'],
    ])
      expect((await svcadmin.run(['deliveries', 'hold', ...wrong])).code).toBe(2);
  });

  it('jobs reschedule moves the next run of a job and of its deliveries; a time 30 days ahead exits with 5', async () => {
    const { id, jobId } = await waitingForJob();
    const moved = await svcadmin.json<JobView>('jobs', 'reschedule', jobId, '--in', '2h');
    expect(moved).toMatchObject({ id: jobId, wakes: 1, deliveryIds: [id] });
    expect(Date.parse(moved.nextRunAt ?? '')).toBeGreaterThan(Date.now() + 7_000_000);
    expect((await svcadmin.run(['jobs', 'reschedule', jobId, '--in', '720h'])).code).toBe(5);
  });
});

describe('svcadmin webhooks test', () => {
  it('exits with 0 if the endpoint accepts the sample, and with 1 and the status if it answers 500', async () => {
    const well = await svcadmin.run(['webhooks', 'test', await keyWithEndpoint('/ok')]);
    expect(well).toMatchObject({ code: 0, stdout: expect.stringContaining('delivered') });
    const broken = await svcadmin.run(['webhooks', 'test', await keyWithEndpoint('/broken'), '--json']);
    expect(broken.code).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject({ attempts: [{ status: 500, error: 'http' }] });
    const refused = await svcadmin.run(['webhooks', 'test', await keyWithEndpoint('/refused')]);
    expect(refused.stderr).toContain('Have the partner check first that it verifies the raw bytes');
  });

  it('exits with 1 and prints the reason if the sample is skipped', async () => {
    const key = await keyWithEndpoint('/ok');
    await server.admin.webhooks.unset.mutate({ keyId: key });
    const { code, stderr } = await svcadmin.run(['webhooks', 'test', key]);
    expect(code).toBe(1);
    expect(stderr).toContain('The sample was not sent: the key had no webhook URL.');
    expect(stderr).not.toContain('deliveries show');
  });
});

describe('svcadmin webhooks verify', () => {
  /** A key with its signing secret, and a function that verifies a captured body for it. */
  async function keyWithCapture() {
    const key = await keyWithEndpoint('/ok');
    const url = `${receiverUrl}/ok`;
    const { signingSecret } = await server.admin.webhooks.set.mutate({ keyId: key, url });
    const file = join(svcadmin.cwd, 'captured');
    async function verify(body: string | Buffer, signature: string, ...more: string[]) {
      await writeFile(file, body);
      return svcadmin.run(['webhooks', 'verify', key, '--body', file, '--signature', signature, ...more]);
    }
    return { verify, sign: (body: string | Buffer) => contractSignature(body, signingSecret) };
  }

  it('accepts the signature of a captured request, and exits with 1 if the prefix of the signature is missing', async () => {
    const key = await keyWithEndpoint('/ok');
    const { eventId } = await server.admin.webhooks.trigger.mutate({ keyId: key, event: 'vae.resolved' });
    await settled(key, '204');
    const captured = received().find((request) => request.eventId === eventId);
    const file = join(svcadmin.cwd, 'body.json');
    await writeFile(file, captured?.body ?? '');
    const verify = (signature = '') =>
      svcadmin.run(['webhooks', 'verify', key, '--body', file, '--signature', signature]);
    expect((await verify(captured?.signature)).code).toBe(0);
    const bare = await verify(captured?.signature.slice('sha256='.length));
    expect(bare).toMatchObject({ code: 1, stdout: expect.stringContaining('does not verify') });
  });

  it('verifies a body that is not valid UTF-8 over its bytes', async () => {
    const { verify, sign } = await keyWithCapture();
    const body = Buffer.from('{"name":"caf\xe9"}', 'latin1');
    const other = Buffer.from('{"name":"caf\xe8"}', 'latin1');
    expect(await verify(body, sign(body))).toMatchObject({ code: 0, stdout: 'The signature verifies.\n' });
    expect((await verify(other, sign(body))).code).toBe(1);
  });

  it('verifies a body of up to 6,144 bytes in any script, and refuses a longer one with the limit', async () => {
    const { verify, sign } = await keyWithCapture();
    const [longest, longer] = ['ж'.repeat(3_072), 'x'.repeat(6_145)];
    expect(await verify(longest, sign(longest))).toMatchObject({
      code: 0,
      stdout: 'The signature verifies.\n',
    });
    expect(await verify(longer, sign(longer))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--body: has 6145 bytes; at most 6144 can be verified'),
    });
  });

  it('exits with 1 if the signature is right and the receiver computes another one', async () => {
    const { verify, sign } = await keyWithCapture();
    const { code, stdout } = await verify('{}', sign('{}'), '--computed', `sha256=${'0'.repeat(64)}`);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^The signature verifies\.\n- ./);
  });
});

describe('svcadmin webhooks listen', () => {
  /** Starts `webhooks listen`, which is killed when the test ends. */
  function listen(key: string, path: string) {
    const args = [executable, 'webhooks', 'listen', key, '--forward-to', `${receiverUrl}${path}`, '--json'];
    const listener = spawn(process.execPath, args, { cwd: svcadmin.cwd, env: svcadmin.env });
    const seen = { output: '', notices: '' };
    listener.stdout.setEncoding('utf8').on('data', (text: string) => {
      seen.output += text;
    });
    listener.stderr.setEncoding('utf8').on('data', (text: string) => {
      seen.notices += text;
    });
    const ended = new Promise((resolve) => listener.on('close', resolve));
    const end = async () => {
      listener.kill('SIGINT');
      await ended;
    };
    onTestFinished(() => void listener.kill());
    return { seen, end };
  }

  it('relays events to another address, signed with the printed secret, until Ctrl-C', async () => {
    const key = await keyWithEndpoint('/ok');
    const { seen, end } = listen(key, '/relayed');
    await expect.poll(() => seen.notices, { timeout: within(15_000) }).toContain('Signed with');
    const { eventId } = await server.admin.webhooks.trigger.mutate({ keyId: key, event: 'vae.resolved' });
    await expect.poll(() => seen.output, { timeout: within(15_000) }).toContain(eventId);
    await end();
    expect(JSON.parse(seen.output.trim())).toEqual({ eventId, event: 'vae.resolved', answer: 204 });
    const relayed = received().filter(({ path }) => path === '/relayed');
    expect(relayed).toHaveLength(1);
    const { body = '', signature = '' } = relayed[0] ?? {};
    expect(await server.admin.webhooks.verify.query({ keyId: key, body, signature })).toMatchObject({
      verified: true,
    });
    // The printed secret is the one that signs.
    const [secret = ''] = /whsec_\w+/.exec(seen.notices) ?? [];
    expect(contractSignature(body, secret)).toBe(signature);
    expect(seen.output).not.toContain('whsec_');
  });
});
