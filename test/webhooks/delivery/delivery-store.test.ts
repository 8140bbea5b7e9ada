import { describe, expect, it } from 'vitest';
import { ensureIndexes } from '../../../server/platform/database/indexes.ts';
import { randomId } from '../../../server/platform/ids.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { createDeliveryStore, indexes } from '../../../server/webhooks/delivery/delivery-store.ts';
import { composeDelivery, composeEvent } from '../../../server/webhooks/delivery/events.ts';
import { freshDatabase } from '../../harness/database.ts';
import { draft, idKey } from '../system.ts';

const at = new Date('2026-07-01T12:00:00Z');

/** A store with so many deliveries of each key; those in seconds from `at`. */
async function storeWith(
  waiting: Record<string, { count: number; dueIn: number; lane?: 'first' | 'retry' }>,
) {
  const { db } = await freshDatabase();
  await ensureIndexes(db, indexes);
  const deliveries = Object.entries(waiting).flatMap(([keyId, { count, dueIn, lane = 'first' }]) => {
    const dueAt = new Date(at.getTime() + dueIn * 1000);
    const event = composeEvent(draft(keyId, at), idKey);
    return Array.from({ length: count }, () => ({
      ...composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt, now: at }),
      lane,
    }));
  });
  await db.collection<Delivery>('deliveries').insertMany(deliveries);
  return createDeliveryStore(db);
}

describe('keys that have something due', () => {
  it('are all found, behind however much of one of them', async () => {
    const store = await storeWith({
      key_a: { count: 5, dueIn: -1, lane: 'retry' },
      key_b: { count: 2_500, dueIn: -60 },
      key_c: { count: 3, dueIn: 1 },
      key_d: { count: 1, dueIn: 0 },
      key_e: { count: 1, dueIn: 1, lane: 'retry' },
      key_f: { count: 1, dueIn: -1 },
    });
    expect(await store.dueKeys(at)).toEqual(['key_a', 'key_b', 'key_d', 'key_f']);
  });

  it('are all found where they are many', async () => {
    const keys = Array.from({ length: 2_100 }, (_, n) => `key_${String(n).padStart(4, '0')}`);
    const store = await storeWith(Object.fromEntries(keys.map((key) => [key, { count: 1, dueIn: -1 }])));
    expect(await store.dueKeys(at)).toEqual(keys);
  });

  it('are each named once where little is due', async () => {
    const store = await storeWith({ key_b: { count: 3, dueIn: -1 }, key_a: { count: 2, dueIn: -2 } });
    expect((await store.dueKeys(at)).toSorted()).toEqual(['key_a', 'key_b']);
  });
});

describe('seconds in which something falls due', () => {
  it('are those of the span; what is older is overdue', async () => {
    const store = await storeWith({
      key_a: { count: 2, dueIn: -5 },
      key_b: { count: 2, dueIn: 0.5 },
      key_c: { count: 2, dueIn: 3 },
      key_d: { count: 2, dueIn: 60 },
    });
    const inSeconds = (seconds: number) => new Date(at.getTime() + seconds * 1000);
    expect(await store.dueSeconds(at, inSeconds(30))).toEqual([at, inSeconds(3)]);
    expect([await store.isOverdue(at), await store.isOverdue(inSeconds(-5))]).toEqual([true, false]);
  });
});
