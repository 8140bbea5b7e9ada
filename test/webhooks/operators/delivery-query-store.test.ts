import { describe, expect, it } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { composeDelivery, composeEvent } from '../../../server/webhooks/delivery/events.ts';
import { createDeliveryQueryStore } from '../../../server/webhooks/operators/delivery-query-store.ts';
import { preparedDatabase } from '../../harness/database.ts';
import { draft, idKey } from '../system.ts';

const at = new Date('2026-07-01T12:00:00Z');
const later = new Date(at.getTime() + 60_000);
const statuses = ['pending', 'in_flight', 'delivered', 'failed', 'skipped'] as const;

describe('a change of several deliveries changes only those that wait', () => {
  it.each([
    ['a new time', (store: Store, ids: string[]) => store.moveAll(ids.map((_id) => ({ _id, at: later })))],
    ['a cancellation', (store: Store, ids: string[]) => store.cancelAll(ids, later)],
  ])('if it is %s', async (_change, change) => {
    const { db } = await preparedDatabase();
    const event = composeEvent(draft('key_a', at), idKey);
    const stored = statuses.map((status) => ({
      ...composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt: at, now: at }),
      status,
    }));
    const deliveries = db.collection<Delivery>('deliveries');
    await deliveries.insertMany(stored);
    expect(
      await change(
        createDeliveryQueryStore(db),
        stored.map(({ _id }) => _id),
      ),
    ).toBe(1);
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

type Store = ReturnType<typeof createDeliveryQueryStore>;
