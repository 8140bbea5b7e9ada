import { describe, expect, it, vi } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { composeDelivery, composeEvent } from '../../../server/webhooks/delivery/events.ts';
import { createDeliveryQueryStore } from '../../../server/webhooks/operators/delivery-query-store.ts';
import { preparedDatabase } from '../../harness/database.ts';
import { adminOf, createSystem, draft, idKey } from '../system.ts';

const at = new Date('2026-07-01T12:00:00Z');
const later = new Date(at.getTime() + 60_000);
type Store = ReturnType<typeof createDeliveryQueryStore>;
const statuses = ['pending', 'in_flight', 'delivered', 'failed', 'skipped'] as const;

describe('a change of several deliveries', () => {
  it.each([
    ['a new time', (store: Store, ids: string[]) => store.moveAll(ids.map((_id) => ({ _id, at: later })))],
    ['a cancellation', (store: Store, ids: string[]) => store.cancelAll(ids, later)],
  ])('changes only those that wait if it is %s', async (_change, change) => {
    const { db } = await preparedDatabase();
    const event = composeEvent(draft('key_a', at), idKey);
    const stored = statuses.map((status) => ({
      ...composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt: at, now: at }),
      status,
    }));
    const deliveries = db.collection<Delivery>('deliveries');
    await deliveries.insertMany(stored);
    const ids = stored.map(({ _id }) => _id);
    expect(await change(createDeliveryQueryStore(db), ids)).toBe(1);
    const after = await deliveries.find().toArray();
    const unchanged = stored.filter((delivery) =>
      after.some(
        ({ _id, status, nextAttemptAt }) =>
          _id === delivery._id && status === delivery.status && nextAttemptAt?.getTime() === at.getTime(),
      ),
    );
    expect(unchanged.map(({ status }) => status)).toEqual(statuses.slice(1));
  });
});

it.each(['move', 'cancel'] as const)(
  'the operator procedures answer conflict if an attempt of the delivery begins before its %s',
  async (change) => {
    const system = await createSystem({ worker: false });
    const stored = system.db.collection<Delivery>('deliveries');
    await system.publish([draft(system.key('https://partner.example/'))]);
    const { deliveries } = adminOf(system);
    const [{ id } = { id: '' }] = await deliveries.list({});
    const { deliveryQueries } = system.context;
    const original = deliveryQueries[change] as (...given: unknown[]) => Promise<never>;
    vi.spyOn(deliveryQueries, change).mockImplementationOnce(async (...given: unknown[]) => {
      await stored.updateOne({}, { $set: { status: 'in_flight' } });
      return original(...given);
    });
    const changed =
      change === 'move'
        ? deliveries.reschedule({ deliveryId: id, inSeconds: 60 })
        : deliveries.cancel({ deliveryId: id });
    await expect(changed).rejects.toMatchObject({ cause: { code: 'conflict' } });
    expect(await stored.findOne({})).toMatchObject({ status: 'in_flight' });
  },
);
