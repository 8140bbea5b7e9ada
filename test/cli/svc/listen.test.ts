import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import { createDevice } from '../../console/portal/device/device-harness.ts';
import { freePort } from '../../harness/free-port.ts';
import { createPartner, exchangeCode, type TestPartner, verifyUser } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { executableOf } from '../svcadmin.ts';
import { type MemberLine, memberLine } from './member-line.ts';

let server: TestServer;
let partner: TestPartner;
let svc: MemberLine;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  partner = await createPartner(server);
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: 'http://localhost:9/hooks' });
  svc = await memberLine(server, partner.partnerId, 'developer');
}, within(60_000));
afterAll(() => server.stop());

const soon = { timeout: within(30_000) };

/** Starts `svc listen`, and waits until it relays. It is killed when the test ends. */
async function startListener(target: string, ...more: string[]) {
  const args = [executableOf('svc'), 'listen', '--forward-to', target, ...more];
  const listener = spawn(process.execPath, args, { cwd: svc.cwd, env: svc.env });
  onTestFinished(() => void listener.kill());
  const seen = { output: '', notices: '' };
  listener.stdout.setEncoding('utf8').on('data', (text: string) => {
    seen.output += text;
  });
  listener.stderr.setEncoding('utf8').on('data', (text: string) => {
    seen.notices += text;
  });
  const ended = new Promise<(number | string | null)[]>((resolve) =>
    listener.on('close', (code, signal) => resolve([code, signal])),
  );
  await expect.poll(() => seen.notices, soon).toContain('Signed with');
  return {
    seen,
    ended,
    lines: () =>
      seen.output
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as { event: string; eventId: string; answer: number | string }),
    interrupt: () => {
      listener.kill('SIGINT');
      return ended;
    },
  };
}
const trigger = () =>
  server.admin.webhooks.trigger.mutate({ keyId: partner.keyId, event: 'verification.session.failed' });

it('svc listen relays the events of a verification until Ctrl-C, signed with the secret that it prints', {
  timeout: within(60_000),
}, async () => {
  const receiver = await createReceiver();
  const { seen, lines, interrupt } = await startListener(receiver.url, '--json');
  expect((await exchangeCode(server, partner, await verifyUser(server, partner))).status).toBe(200);
  await expect
    .poll(
      () =>
        lines()
          .map(({ event }) => event)
          .toSorted(),
      soon,
    )
    .toEqual(['enrollment.created', 'verification.session.completed']);
  expect(await interrupt()).toEqual([null, 'SIGINT']);
  const [secret = ''] = /whsec_\w+/.exec(seen.notices) ?? [];
  expect(lines().map(({ answer }) => answer)).toEqual(receiver.received.map(() => 204));
  for (const { body, headers } of receiver.received)
    expect(headers['x-svc-signature']).toBe(contractSignature(body, secret));
  const event = 'verification.session.completed';
  const [sent] = await server.admin.deliveries.list.query({ keyId: partner.keyId, event });
  const relayed = receiver.received.find(({ headers }) => headers['x-svc-event'] === event);
  expect(relayed?.headers['x-svc-event-id']).toBe(sent?.eventId);
});

it('svc listen prints ECONNREFUSED or timeout as the result of an event, and relays the next event', {
  timeout: within(90_000),
}, async () => {
  const port = await freePort();
  const { seen, lines, interrupt } = await startListener(`http://127.0.0.1:${port}/hooks`, '--json');
  const answerOf = (wanted: string) => lines().find(({ eventId }) => eventId === wanted)?.answer;
  const down = await trigger();
  await expect.poll(() => answerOf(down.eventId), soon).toContain('ECONNREFUSED');
  let isSlow = true;
  const receiver = createServer((_request, response) => {
    if (!isSlow) response.writeHead(204).end();
  }).listen(port, '127.0.0.1');
  onTestFinished(() => {
    receiver.closeAllConnections();
    receiver.close();
  });
  const late = await trigger();
  await expect.poll(() => answerOf(late.eventId), soon).toContain('timeout');
  isSlow = false;
  const taken = await trigger();
  await expect.poll(() => answerOf(taken.eventId), soon).toBe(204);
  expect(await interrupt()).toEqual([null, 'SIGINT']);
  expect(seen.output).not.toContain('whsec_');
});

it('svc listen names `svc webhooks verify` if the receiver answers with 401, and exits with 3 when its login ends', {
  timeout: within(60_000),
}, async () => {
  const receiver = await createReceiver((_count, _request, response) => response.writeHead(401).end('no'));
  const { seen, ended } = await startListener(receiver.url);
  const early = await trigger();
  await expect.poll(() => seen.output, soon).toContain(`${early.eventId}  verification.session.failed  401`);
  await expect.poll(() => seen.notices, soon).toContain('`svc webhooks verify`');
  expect(seen.notices).toContain('It says: no');
  const { status } = await createDevice(server).withToken(svc.token, { method: 'DELETE' });
  expect(status).toBe(204);
  expect(await ended).toEqual([3, null]);
  expect(seen.notices).toContain('svc login');
  const { eventId } = await trigger();
  expect(receiver.received.map(({ headers }) => headers['x-svc-event-id'])).not.toContain(eventId);
});
