import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { jobOf } from '../careful/careful-cases.ts';
import { commandLine } from '../svcadmin.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_LOCALHOST_WEBHOOKS: 'on' } });
});
afterAll(() => server.stop());

it('svcadmin jobs list --partner lists only the jobs that make attempts for the partner, in pages', async () => {
  const { admin } = server;
  const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
  await admin.partners.activate.mutate({ partnerId });
  const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
  await admin.webhooks.set.mutate({ keyId, url: 'http://localhost:1/' });
  const { id: deliveryId } = await admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
  const isTried = async () => (await admin.deliveries.show.query({ deliveryId })).attempts.length;
  await expect.poll(isTried, { timeout: within(20_000) }).toBe(1);
  const id = await jobOf(server, deliveryId);
  const svcadmin = await commandLine(server.adminUrl);
  for (const pages of [[], ['--all'], ['--limit', '1']])
    expect(await svcadmin.json('jobs', 'list', '--partner', partnerId, ...pages)).toMatchObject([{ id }]);
  expect(await svcadmin.json('jobs', 'list', '--partner', partnerId, '--after', id)).toEqual([]);
  expect(await svcadmin.json('jobs', 'list', '--partner', partnerId, '--name', 'other')).toEqual([]);
  const { id: other } = await admin.partners.create.mutate({ name: 'Other' });
  expect(await svcadmin.json('jobs', 'list', '--partner', other)).toEqual([]);
});
