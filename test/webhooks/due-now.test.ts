import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../server/webhooks/delivery/delivery.ts';
import { createReceiver } from '../harness/receiver.ts';
import { adminOf, createSystem, draft, type System, until } from './system.ts';

const hour = 3_600_000;
const since = '2026-01-01T00:00:00Z';
type Admin = ReturnType<typeof adminOf>;
interface Waiting {
  admin: Admin;
  system: System;
  keyId: string;
  deliveryId: string;
}

/** A job that waits for the second attempts of all deliveries. */
async function jobOf({ jobs }: Admin): Promise<string> {
  const [job] = await until(async () => {
    const found = await jobs.list({});
    return found.length > 0 && found;
  });
  return job?.id ?? '';
}

/** Every way in which an operator makes attempts due now. */
const ways: Record<string, (waiting: Waiting) => Promise<unknown>> = {
  'deliveries.reschedule': ({ admin, deliveryId }) =>
    admin.deliveries.reschedule({ deliveryId, inSeconds: 0 }),
  'deliveries.resend': ({ admin, deliveryId }) => admin.deliveries.resend({ deliveryIds: [deliveryId] }),
  'jobs.run': async ({ admin }) => admin.jobs.run({ jobId: await jobOf(admin) }),
  'jobs.reschedule': async ({ admin }) => admin.jobs.reschedule({ jobId: await jobOf(admin), inSeconds: 0 }),
  'bulk.start reschedule': ({ admin, keyId }) =>
    admin.bulk.start({
      action: 'reschedule',
      filter: { keyId, since },
      rate: 10,
      inSeconds: 0,
    }),
  'bulk.start resend': async ({ admin, keyId, system }) => {
    const failed = { status: 'failed' as const, endedAt: new Date() };
    await system.db
      .collection<Delivery>('deliveries')
      .updateMany({}, { $set: failed, $unset: { nextAttemptAt: '' } });
    return admin.bulk.start({ action: 'resend', filter: { keyId, since }, rate: 10 });
  },
  'webhooks.trigger': ({ admin, keyId }) => admin.webhooks.trigger({ keyId, event: 'vae.resolved' }),
  'webhooks.test': ({ admin, keyId }) => admin.webhooks.test({ keyId }),
};

/** Nothing sweeps here, so a delivery without a job or a wake-up would never be sent. */
describe('an attempt that becomes due now is sent without a sweep', () => {
  it.each(
    Object.entries(ways).flatMap(([way, act]) => [
      [way, 'the process that sends', act] as const,
      [way, 'another process', act] as const,
    ]),
  )('%s at %s', async (_way, where, act) => {
    const receiver = await createReceiver((count, _request, response) =>
      response.writeHead(count === 1 ? 503 : 204).end(),
    );
    const system = await createSystem({ retryDelays: [hour, hour] });
    const keyId = system.key(receiver.url);
    await system.publish([draft(keyId)]);
    const { _id: deliveryId } = await until(() =>
      system.db.collection<Delivery>('deliveries').findOne({ status: 'pending', attempt: 2 }),
    );
    const other = () => createSystem({ db: system.db, endpoints: system.endpoints, worker: false });
    const caller = where === 'another process' ? await other() : system;
    await act({ admin: adminOf(caller), system, keyId, deliveryId });
    await until(() => receiver.received.length === 2);
    expect(receiver.received).toHaveLength(2);
  });
});
