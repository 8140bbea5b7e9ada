import type { Collection, Filter } from 'mongodb';
import type { Delivery } from './delivery.ts';

/** The most deliveries that one query reads. */
const deliveriesPerQuery = 500;

type Owner = Pick<Delivery, 'keyId' | 'partnerId' | 'mode'>;

/**
 * Finds the keys of waiting deliveries from an index, in pages. After a full page, it skips the remaining deliveries of the page's
 * last key, so one key with very many hides no other. All lanes are named, because the index contains the lane between the key
 * and the time.
 */
export async function keysOfWaiting(
  deliveries: Collection<Delivery>,
  due: Filter<Delivery> = {},
): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  let after = '';
  for (;;) {
    const found = await deliveries
      .find(
        { ...due, status: 'pending', keyId: { $gt: after }, lane: { $in: ['first', 'retry'] } },
        {
          projection: { _id: 0, keyId: 1, partnerId: 1, mode: 1 },
          hint: { keyId: 1, lane: 1, nextAttemptAt: 1 },
        },
      )
      .sort({ keyId: 1 })
      .limit(deliveriesPerQuery)
      .toArray();
    for (const owner of found) owners.set(owner.keyId, owner);
    if (found.length < deliveriesPerQuery) return [...owners.values()];
    after = found.at(-1)?.keyId ?? after;
  }
}
