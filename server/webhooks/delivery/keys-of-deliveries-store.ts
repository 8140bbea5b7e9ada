import type { Collection, Filter } from 'mongodb';
import { type Delivery, inAnyLane } from './delivery.ts';

/** The most deliveries that one query reads. */
const deliveriesPerQuery = 500;

type Owner = Pick<Delivery, 'keyId' | 'partnerId' | 'mode'>;

/** Finds the keys of waiting deliveries. */
export const keysOfWaiting = (
  deliveries: Collection<Delivery>,
  due: Filter<Delivery> = {},
): Promise<Owner[]> =>
  keysOf(deliveries, { ...due, status: 'pending', ...inAnyLane }, { keyId: 1, lane: 1, nextAttemptAt: 1 });

/**
 * Finds the keys of deliveries from an index that begins with the key, in pages. After a full page, it skips the remaining
 * deliveries of the page's last key, so one key with very many hides no other.
 */
export async function keysOf(
  deliveries: Collection<Delivery>,
  filter: Filter<Delivery>,
  hint: Readonly<Record<string, 1 | -1>>,
): Promise<Owner[]> {
  const owners = new Map<string, Owner>();
  let after = '';
  for (;;) {
    const found = await deliveries
      .find(
        { ...filter, keyId: { $gt: after } },
        { projection: { _id: 0, keyId: 1, partnerId: 1, mode: 1 }, hint },
      )
      .sort({ keyId: 1 })
      .limit(deliveriesPerQuery)
      .toArray();
    for (const owner of found) owners.set(owner.keyId, owner);
    if (found.length < deliveriesPerQuery) return [...owners.values()];
    after = found.at(-1)?.keyId ?? after;
  }
}
