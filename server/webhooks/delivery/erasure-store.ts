import type { Db } from 'mongodb';
import { moveExpiry, type NewExpiry } from '../../platform/database/expiry.ts';
import type { Delivery, StoredEvent } from './delivery.ts';
import { collection as deliveryCollection, unsetAnswers } from './delivery-store.ts';
import { collection as eventCollection } from './event-store.ts';

/** The body of an event without the data of its user. */
function withoutUser(body: string): string {
  const payload = JSON.parse(body) as { user_id?: unknown; claims?: unknown };
  if ('user_id' in payload) payload.user_id = 'erased';
  if ('claims' in payload) payload.claims = {};
  return JSON.stringify(payload);
}

/** Removes the data of users from stored events and their deliveries. */
export function createEventErasure(db: Db) {
  const events = db.collection<StoredEvent>(eventCollection);
  const deliveries = db.collection<Delivery>(deliveryCollection);

  return {
    /** Moves when the events and deliveries of a user are deleted. */
    async moveExpiry(subs: readonly string[], expiry: NewExpiry): Promise<void> {
      const ofSubjects = { sub: { $in: [...subs] } };
      const found = await events.find(ofSubjects, { projection: { _id: 1 } }).toArray();
      await moveExpiry(events, ofSubjects, expiry);
      await moveExpiry(deliveries, { eventId: { $in: found.map(({ _id }) => _id) } }, expiry);
    },

    /** Erases a user's events. An erased event keeps its id, and can still be sent again. @returns how many were erased */
    async erase(subs: readonly string[]): Promise<number> {
      const ofUser = { sub: { $in: [...subs] } };
      const found = await events.find(ofUser, { projection: { body: 1 } }).toArray();
      for (const { _id, body } of found) {
        await deliveries.updateMany({ eventId: _id }, { $unset: { sub: '', ...unsetAnswers } });
        // The subject is removed last, because it is needed to find the event again after a crash.
        await events.updateOne({ _id }, { $set: { body: withoutUser(body) }, $unset: { sub: '' } });
      }
      return found.length;
    },
  };
}
