import { afterAll, beforeAll, expect, it } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { adminToken, manualClock, startTestServer, type TestServer } from '../harness/server.ts';

let trusted = true;
const clock = { ...manualClock(), trusted: () => trusted };
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

it('a process without a trusted clock refuses to move money with 503, but verifies users and sends webhooks', async () => {
  const { admin, baseUrl } = server;
  const receiver = await createReceiver();
  const partner = await createPartner(server);
  const { partnerId, keyId } = partner;
  const wallet = { partnerId, mode: 'test' as const };
  await admin.webhooks.set.mutate({ keyId, url: receiver.url });
  const verified = await completeSession(server, partner);
  const exchange = () => exchangeCode({ baseUrl }, partner, verified);
  expect((await exchange()).status).toBe(200);
  const statement = () => admin.wallets.statement.query(wallet);
  await expect.poll(async () => (await statement()).entries.length).toBe(2);
  const before = await statement();
  const entryId = before.entries.at(-1)?.id ?? '';
  await expect.poll(() => receiver.received.length).toBe(2);
  const problems = async () =>
    (await fetch(`${server.adminUrl}/ops`, { headers: { authorization: `Bearer ${adminToken}` } })).text();
  expect(await problems()).toContain('All is well');

  trusted = false;
  const unavailable = { data: { error: 'service_unavailable', httpStatus: 503 } };
  const reason = 'a test';
  const fund = () => admin.wallets.fund.mutate({ ...wallet, amount: 5_000, reference: 'second' });
  await expect(fund()).rejects.toMatchObject(unavailable);
  await expect(admin.wallets.adjust.mutate({ ...wallet, amount: 5, reason })).rejects.toMatchObject(
    unavailable,
  );
  await expect(admin.wallets.refund.mutate({ entryId, reason })).rejects.toMatchObject(unavailable);
  await server.sweep();
  expect(await statement()).toEqual(before);

  // Billable callers get an error. Users continue, and webhooks are signed and sent.
  expect((await fetch(`${baseUrl}/readyz`)).status).toBe(503);
  expect((await fetch(`${baseUrl}/healthz`)).status).toBe(200);
  expect(await admin.status.query()).toMatchObject({ clockTrusted: false, database: 'up' });
  expect(await problems()).toContain('The clock of this process is over 2 s off');
  expect((await completeSession(server, partner)).code).toMatch(/^svc_code_/);
  await expect.poll(() => receiver.received.length).toBe(3);
  expect(await admin.webhooks.test.mutate({ keyId })).toMatchObject({ status: 'delivered' });
  expect(receiver.received.at(-1)?.headers['webhook-timestamp']).toBe(String(Math.floor(clock.now() / 1000)));

  trusted = true;
  expect(await fund()).toMatchObject({ amount: 5_000, repeated: false });
  expect((await fetch(`${baseUrl}/readyz`)).status).toBe(200);
});
