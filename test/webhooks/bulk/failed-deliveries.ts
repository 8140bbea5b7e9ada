import type { Db } from 'mongodb';
import { expect } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import type { TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';

interface Service {
  admin: TestServer['admin'];
  db: Db;
}

/** Stores failed deliveries of a key with their events, copied from a delivered sample. */
export async function storeFailed({ admin, db }: Service, keyId: string, count: number): Promise<void> {
  const { id } = await admin.webhooks.trigger.mutate({ keyId, event: 'verification.session.failed' });
  const ended = async () => (await admin.deliveries.show.query({ deliveryId: id })).status;
  await expect.poll(ended, { timeout: within(10_000) }).toBe('delivered');
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
