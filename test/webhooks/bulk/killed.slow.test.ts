import { MongoClient } from 'mongodb';
import { expect, it, onTestFinished } from 'vitest';
import { createPartner } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { within } from '../../harness/time-limits.ts';
import { createServerProcess } from '../../platform/server-process.ts';
import { storeFailed } from './failed-deliveries.ts';

/** The number of simultaneous attempts of one process to an endpoint, which a kill can repeat. */
const mostAtOnce = 5;

const keys = 4;
const perKey = 60;

it('a bulk job of 240 deliveries continues in another process after kill -9, and sends each', {
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
