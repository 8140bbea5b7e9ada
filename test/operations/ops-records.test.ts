import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRecordReads } from '../../server/console/ops/ops-record-reads.ts';
import type { DatabaseFault } from '../../server/platform/database/availability.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { startReceiver } from '../harness/receiver.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { until } from '../webhooks/system.ts';

let server: TestServer;
let partner: TestPartner;
let receiver: Awaited<ReturnType<typeof startReceiver>>;
let deliveryId: string;
beforeAll(async () => {
  server = await startTestServer();
  receiver = await startReceiver((_count, _request, response) =>
    response.writeHead(500).end('<b>broken</b>'),
  );
  partner = await createPartner(server, { name: '<i>Acme</i>' });
  await server.admin.webhooks.set.mutate({ keyId: partner.keyId, url: receiver.url });
  const { id } = await server.admin.webhooks.trigger.mutate({ keyId: partner.keyId, event: 'vae.resolved' });
  deliveryId = id;
  const attempted = async () =>
    (await server.admin.deliveries.show.query({ deliveryId })).attempts[0]?.status;
  await until(async () => (await attempted()) === 500);
});
afterAll(async () => {
  await server.stop();
  receiver.close();
});

const open = (path: string, token = adminToken) =>
  fetch(`${server.adminUrl}/ops/${path}`, { headers: { authorization: `Bearer ${token}` } });
/** The page without the headings that table cells repeat for narrow screens. */
const html = async (path: string) => (await (await open(path)).text()).replaceAll(/ data-label="[^"]*"/g, '');

describe('a page of /ops', () => {
  it("links to the partner's endpoint, delivery and wallet, names the next command, and escapes the partner's name", async () => {
    const page = await html(`partner/${partner.partnerId}`);
    expect(page).toContain(`href="/ops/endpoint/${partner.keyId}"`);
    expect(page).toContain(`href="/ops/wallet/${partner.partnerId}:live"`);
    expect(page).toContain('&lt;i&gt;Acme');
    const endpoint = await html(`endpoint/${partner.keyId}`);
    expect(endpoint).toContain(`href="/ops/delivery/${deliveryId}"`);
    expect(endpoint).toMatch(/<td>500<\/td><td>100 %<\/td><td><time class="whole" datetime="[^"]+">\d{4}-/);
    expect(endpoint).toContain(`svcadmin webhooks pause ${partner.keyId} --until 4h`);
    const delivery = await html(`delivery/${deliveryId}`);
    expect(delivery).toContain(`svcadmin deliveries resend ${deliveryId}`);
    expect(delivery).toContain('Have the partner look into its log');
    const work = await html('work/all');
    expect(work).toContain(`<a href="/ops/partner/${partner.partnerId}">&lt;i&gt;Acme`);
    const failing = `<a href="/ops/endpoint/${partner.keyId}">failing</a></td><td>test</td><td>500</td>`;
    expect(work).toContain(failing);
    const headers = { authorization: `Bearer ${adminToken}` };
    const overview = await fetch(`${server.adminUrl}/ops`, { headers });
    expect(await overview.text()).toMatch(/<td[^>]*>500<\/td>/);
    expect(page + endpoint + delivery).not.toMatch(/<script|<form|<i>|<b>/);
  });

  it('offers to move or cancel a delivery only while it has an attempt to come', async () => {
    const commands = ['deliveries reschedule', 'deliveries cancel'];
    const pending = await html(`delivery/${deliveryId}`);
    for (const command of commands) expect(pending).toContain(`svcadmin ${command} ${deliveryId}`);
    const { keyId } = await createPartner(server);
    await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
    const { id } = await server.admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
    const statusOf = async () => (await server.admin.deliveries.show.query({ deliveryId: id })).status;
    await until(async () => (await statusOf()) === 'pending');
    await server.admin.deliveries.cancel.mutate({ deliveryId: id });
    const ended = await html(`delivery/${id}`);
    expect(ended).toContain(`svcadmin deliveries resend ${id}`);
    for (const command of commands) expect(ended).not.toContain(`svcadmin ${command} ${id}`);
  });

  it('shows what is due when, for whom and why, of all, a partner, a key, a mode or an event', async () => {
    const paths = ['all', partner.partnerId, partner.keyId, 'test', 'vae.resolved'];
    for (const path of paths) {
      const page = await html(`schedule/${path}`);
      expect(page).toContain(`<a href="/ops/schedule/${partner.partnerId}">&lt;i&gt;Acme`);
      expect(page).toMatch(/\d<\/time><\/td>.*vae\.resolved<\/a><\/td><td>schedule<\/td><td>1<\/td>/s);
    }
    expect(await html('schedule/live')).not.toContain('Acme');
    expect(await html(`schedule/${partner.keyId}`)).toContain(
      `svcadmin deliveries cancel --key ${partner.keyId} --dry-run`,
    );
    expect((await open('schedule/nothing')).status).toBe(404);
  });

  it('shows a session with its events but without its subject, and a wallet or a bulk job with its commands', async () => {
    await completeSession(server, partner);
    const { rows } = await server.admin.sessions.list.query({ partnerId: partner.partnerId });
    const sessionId = rows[0]?.id ?? '';
    const { sub } = await server.admin.sessions.show.query({ sessionId });
    const session = await html(`session/${sessionId}`);
    expect(session).toContain('complete');
    expect(session).not.toContain(String(sub));
    expect(session).toMatch(
      /\d<\/time><\/td><td>started<\/td>[\s\S]*\d<\/time><\/td><td>authenticated<\/td>/,
    );
    const wallet = await html(`wallet/${partner.partnerId}:test`);
    expect(wallet).toContain('100.00 USD');
    expect(wallet).toContain(`svcadmin wallets fund ${partner.partnerId} --mode test`);
    const filter = { keyId: partner.keyId, since: new Date(0).toISOString() };
    // Another URL, because events whose delivery to the webhook URL is pending are left out.
    const replay = { action: 'replay' as const, filter, to: 'http://localhost:9/again' };
    const { job } = await server.admin.bulk.start.mutate(replay);
    expect(await html(`bulk/${job?.id ?? ''}`)).toContain(`svcadmin bulk cancel ${job?.id ?? ''}`);
    expect(await html('work/all')).toContain(`href="/ops/bulk/${job?.id ?? ''}"`);
  });

  it('answers 403 for the role support, 401 for a wrong token, and 404 for an unknown record or kind', async () => {
    const { token } = await server.admin.operators.create.mutate({ name: 'Kim', role: 'support' });
    expect((await open('work/all', token)).status).toBe(403);
    expect((await open('work/all', 'wrong')).status).toBe(401);
    for (const path of [
      'delivery/dlv_none',
      'delivery/ptr_none',
      'nothing/x',
      'constructor/x',
      `wallet/${deliveryId}`,
      `wallet/${partner.partnerId}:other`,
    ])
      expect([path, (await open(path)).status]).toEqual([path, 404]);
    const { headers } = await open('work/all');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('cache-control')).toBe('no-store');
  });

  it('shows the last read data while the database is away, and none if there are none', async () => {
    let fault: DatabaseFault | undefined;
    const read = createRecordReads({
      api: server.services.admin.router.createCaller({
        operator: { id: 'ops', name: 'ops', role: 'ops' },
        requestId: 'req',
        address: '',
      }),
      databaseFault: () => fault,
      clock: { now: Date.now },
      log: { warn: () => undefined },
    });
    const known = await read({ kind: 'delivery', id: deliveryId });
    fault = { reason: 'no primary', since: new Date() };
    expect(await read({ kind: 'delivery', id: deliveryId })).toEqual({ last: known.last, away: fault });
    const unknown = await read({ kind: 'partner', id: partner.partnerId });
    expect(unknown).toEqual({ last: undefined, away: fault });
  });
});
