import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { createPartner } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { within } from '../../harness/time-limits.ts';
import { createServerProcess } from '../../platform/server-process.ts';
import { storeFailed } from './failed-deliveries.ts';

const count = 40;
/** The number of simultaneous attempts of one process to an endpoint, which a kill can repeat. */
const mostAtOnce = 5;

it('a bulk job continues after its process was killed, and loses no event', {
  timeout: within(180_000),
}, async () => {
  let isUp = false;
  const hooks = await createReceiver((_count, _request, response) => {
    if (!isUp) return void response.writeHead(500).end();
    setTimeout(() => response.writeHead(204).end(), 50);
  });
  const service = await createServerProcess({
    SVC_DEMO_PORT: 'off',
    SVC_WEBHOOK_RETRY_DELAYS: '100ms,100ms',
  });
  await service.start();
  const { keyId } = await createPartner(service, { funds: 0 });
  await service.admin.webhooks.set.mutate({ keyId, url: hooks.url });
  const since = new Date(Date.now() - 60_000).toISOString();
  for (let made = 0; made < count; made += 10)
    await Promise.all(
      Array.from({ length: 10 }, () =>
        service.admin.webhooks.trigger.mutate({ keyId, event: 'verification.session.failed' }),
      ),
    );
  const failed = async () => (await service.admin.deliveries.count.query({ keyId, status: 'failed' })).total;
  await expect.poll(failed, { timeout: within(60_000), interval: 250 }).toBe(count);

  isUp = true;
  hooks.received.length = 0;
  const filter = { keyId, status: 'failed' as const, since };
  const { job } = await service.admin.bulk.start.mutate({ action: 'resend', filter, rate: 20 });
  const bulkId = job?.id ?? expect.fail('no job');
  const received = () => hooks.received.length;
  await expect.poll(received, { timeout: within(30_000), interval: 20 }).toBeGreaterThan(count / 4);
  expect(await service.end('SIGKILL')).toBe('SIGKILL');
  const before = received();
  expect(before).toBeLessThan(count);
  await sleep(500);
  expect(received()).toBe(before);
  await service.start();

  const shown = async () => (await service.admin.bulk.show.query({ bulkId })).status;
  await expect.poll(shown, { timeout: within(90_000), interval: 250 }).toBe('done');
  const ids = () => new Set(hooks.received.map(({ headers }) => headers['x-svc-event-id']));
  await expect.poll(() => ids().size, { timeout: within(60_000), interval: 250 }).toBe(count);
  const done = await service.admin.bulk.show.query({ bulkId });
  expect([done.done, done.leftOut]).toEqual([count, 0]);
  // Only attempts that were running at the kill are repeated.
  expect(received() - count).toBeLessThanOrEqual(mostAtOnce);
  await service.end('SIGTERM');
});

const keys = 4;
const perKey = 150;

it('a bulk job of 600 deliveries continues in another process after kill -9, and sends each', {
  timeout: within(120_000),
}, async () => {
  const hooks = await createReceiver();
  const owner = await createServerProcess({ SVC_DEMO_PORT: 'off', SVC_ROLES: 'api,admin' });
  await owner.start();
  const client = await MongoClient.connect(owner.databaseUri());
  onTestFinished(() => client.close());
  const worker = () =>
    createServerProcess({
      ...{ SVC_ROLES: 'api,worker', SVC_DATA_DIR: owner.dataDir, MONGODB_URI: owner.databaseUri() },
      ...{ SVC_PEER_ADDRESS: 'off' },
    });
  const first = await worker();
  await first.start();
  const { partnerId, keyId } = await createPartner(owner, { funds: 0 });
  const keyIds = [keyId];
  while (keyIds.length < keys)
    keyIds.push((await owner.admin.keys.create.mutate({ partnerId, mode: 'test' })).id);
  for (const id of keyIds) {
    await owner.admin.webhooks.set.mutate({ keyId: id, url: hooks.url });
    await storeFailed({ admin: owner.admin, db: client.db('svc') }, id, perKey);
  }
  hooks.received.length = 0;
  const received = () => hooks.received.length;

  const filter = {
    partnerId,
    status: 'failed' as const,
    since: new Date(Date.now() - 600_000).toISOString(),
  };
  const { job } = await owner.admin.bulk.start.mutate({ action: 'resend', filter, rate: 100 });
  const bulkId = job?.id ?? expect.fail('no job');
  await expect.poll(received, { timeout: within(30_000), interval: 20 }).toBeGreaterThan(perKey / 10);
  expect(await first.end('SIGKILL')).toBe('SIGKILL');
  expect(received()).toBeLessThan(keys * perKey);
  const second = await worker();
  await second.start();

  const shown = () => owner.admin.bulk.show.query({ bulkId });
  await expect
    .poll(async () => (await shown()).status, { timeout: within(90_000), interval: 250 })
    .toBe('done');
  const ids = () => new Set(hooks.received.map(({ headers }) => headers['x-svc-event-id']));
  await expect.poll(() => ids().size, { timeout: within(60_000), interval: 250 }).toBe(keys * perKey);
  const { done, leftOut } = await shown();
  expect([done, leftOut]).toEqual([keys * perKey, 0]);
  // Only attempts that were running at the kill are repeated.
  expect(received() - keys * perKey).toBeLessThanOrEqual(keys * mostAtOnce);
  const resent = { resendOf: { $exists: true } };
  expect(await client.db('svc').collection('deliveries').countDocuments(resent)).toBe(keys * perKey);
  for (const service of [second, owner]) await service.end('SIGTERM');
});
