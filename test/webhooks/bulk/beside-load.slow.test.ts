import { expect, it } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import { recordingLogger } from '../../harness/log-lines.ts';
import { createPartner, exchangeCode, verifyUser } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';

const count = 600;
const exchangers = 8;

/** Failed deliveries of a key with their events, copied from a sample. */
async function seedFailed({ admin, db }: TestServer, keyId: string): Promise<void> {
  const { id } = await admin.webhooks.trigger.mutate({ keyId, event: 'verification.session.failed' });
  const ended = async () => (await admin.deliveries.show.query({ deliveryId: id })).status;
  await expect.poll(ended).toBe('delivered');
  const deliveries = db.collection<{ _id: string }>('deliveries');
  const events = db.collection<{ _id: string }>('events');
  const delivery = (await deliveries.findOne({ _id: id })) ?? expect.fail('no delivery');
  const event = (await events.findOne({ keyId } as never)) ?? expect.fail('no event');
  const at = new Date(Date.now() - 60_000);
  const ids = Array.from({ length: count }, () => randomId('event'));
  await events.insertMany(ids.map((_id) => ({ ...event, _id, createdAt: at })));
  const failed = { status: 'failed', createdAt: at, endedAt: at };
  await deliveries.insertMany(
    ids.map((eventId) => ({ ...delivery, _id: randomId('delivery'), eventId, ...failed })),
  );
}

it('600 resends of one command cause no pool time-out and no refused exchange beside them', {
  timeout: within(180_000),
}, async () => {
  const { logger, lines } = recordingLogger();
  const server = await startTestServer({ logger, env: { SVC_STARTS_PER_MINUTE: 'off' } });
  try {
    const hooks = await createReceiver((_count, _request, response) => response.writeHead(204).end());
    const other = await createPartner(server, { funds: 0 });
    await server.admin.webhooks.set.mutate({ keyId: other.keyId, url: hooks.url });
    await seedFailed(server, other.keyId);
    hooks.received.length = 0;

    const partner = await createPartner(server, { client: { tokenRequestsPerMinute: 100_000 } });
    const { partnerId } = partner;
    await server.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 100_000, perHour: 100_000 });
    await server.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 1_000_000, reference: 'more' });
    const since = new Date(Date.now() - 600_000).toISOString();
    const filter = { keyId: other.keyId, status: 'failed' as const, since };
    const { job } = await server.admin.bulk.start.mutate({ action: 'resend', filter, rate: 100 });
    const bulkId = job?.id ?? expect.fail('no job');

    const isDone = async () => (await server.admin.bulk.show.query({ bulkId })).status === 'done';
    let running = true;
    const statuses: number[] = [];
    const load = Array.from({ length: exchangers }, async () => {
      while (running)
        statuses.push((await exchangeCode(server, partner, await verifyUser(server, partner))).status);
    });
    await expect.poll(isDone, { timeout: within(120_000), interval: 250 }).toBe(true);
    await expect.poll(() => hooks.received.length, { timeout: within(60_000) }).toBe(count);
    running = false;
    await Promise.all(load);

    expect(statuses.length).toBeGreaterThan(exchangers);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const ids = new Set(hooks.received.map(({ headers }) => headers['x-svc-event-id']));
    expect(ids.size).toBe(count);
    const faults = lines.filter((line) => /WaitQueueTimeout|timed out/i.test(JSON.stringify(line)));
    expect(faults).toEqual([]);
  } finally {
    await server.stop();
  }
});
