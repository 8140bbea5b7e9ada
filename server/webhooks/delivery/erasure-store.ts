import type { Db } from 'mongodb';
import type { Delivery, StoredEvent } from './delivery.ts';
import { answersOfAttempts } from './delivery-store.ts';

/** The body of an event after its user was erased: it keeps the type, without the user. */
function emptied(body: string): string {
  const payload = JSON.parse(body) as Record<string, unknown>;
  const changes = {
    ...('user_id' in payload ? { user_id: 'erased' } : {}),
    ...('claims' in payload ? { claims: {} } : {}),
  };
  return JSON.stringify({ ...payload, ...changes });
}

/** Takes people out of kept events and their deliveries. */
export function createEventErasure(db: Db) {
  const events = db.collection<StoredEvent>('events');
  const deliveries = db.collection<Delivery>('deliveries');

  return {
    /** An event that is sent again after this has its identifier and no person in it. @returns how many there were */
    async erase(subs: readonly string[]): Promise<number> {
      const about = { sub: { $in: [...subs] } };
      const found = await events.find(about, { projection: { body: 1 } }).toArray();
      for (const { _id, body } of found) {
        await deliveries.updateMany({ eventId: _id }, { $unset: { sub: '', ...answersOfAttempts } });
        // Last: the subject is what finds the event again after a crash.
        await events.updateOne({ _id }, { $set: { body: emptied(body) }, $unset: { sub: '' } });
      }
      return found.length;
    },
  };
}
