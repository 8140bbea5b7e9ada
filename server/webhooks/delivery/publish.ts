import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EventDraft, Publish } from '../../platform/database/event-draft.ts';
import { isUnavailable } from '../../platform/database/failures.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Delivery, Leased, StoredEvent } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { Due } from './due.ts';
import type { Recipient } from './endpoint.ts';
import type { EventStore } from './event-store.ts';
import { composeDelivery, composeEvent, deliveryId, markLeased, markSkipped } from './events.ts';

export interface PublishSettings {
  events: Pick<EventStore, 'insert'>;
  deliveries: Pick<DeliveryStore, 'insert' | 'insertLeased'>;
  /** Finds the key that gets an event. Default: the key of the draft. */
  recipient?: ((draft: EventDraft) => Promise<Recipient>) | undefined;
  due: Pick<Due, 'newLease' | 'claim' | 'sendStored' | 'stored'>;
  clock: Pick<Clock, 'now'>;
  /** The key from which identifiers of events are derived. */
  idKey: Uint8Array;
  logger: Pick<Logger, 'warn'>;
  /** Called with the number of events in each batch that is published. */
  published?: ((count: number) => void) | undefined;
}

interface First {
  event: StoredEvent;
  delivery: Delivery;
  parties: Recipient['parties'];
}

const keyOfDraft = async ({ keyId }: EventDraft): Promise<Recipient> => ({ keyId });

/**
 * Returns a function that publishes events. Publishing an event twice changes nothing, because the ids of the event and of its
 * first delivery are derived. So a caller that was interrupted publishes its events again.
 */
export function createPublish(settings: PublishSettings): Publish {
  const { events, deliveries, recipient = keyOfDraft, clock, idKey, logger, due } = settings;

  async function compose(draft: EventDraft, now: Date): Promise<First> {
    const { keyId, skip, parties } = await recipient(draft);
    const event = composeEvent({ ...draft, keyId }, idKey);
    const id = deliveryId(event._id, idKey);
    const delivery = composeDelivery(event, { id, trigger: 'event', dueAt: now, now });
    return { event, delivery: skip ? markSkipped(delivery, skip, now) : delivery, parties };
  }

  /** Stores events and their first deliveries, and sends those that have a free slot. */
  async function store(composed: readonly First[]): Promise<void> {
    // Drafts of the same cause are one event, which must not be sent in two slots.
    const firsts = [...new Map(composed.map((first) => [first.event._id, first])).values()];
    const lease = due.newLease();
    const leased: Leased[] = [];
    const others: Delivery[] = [];
    for (const { event, delivery, parties } of firsts) {
      if (delivery.status === 'pending' && due.claim(delivery.keyId))
        leased.push(markLeased(delivery, { body: event.body, parties }, lease));
      else others.push(delivery);
    }
    // Both together, because no other process sends a leased delivery before its event is stored.
    const eventsStored = events.insert(firsts.map(({ event }) => event));
    const leasedStored = deliveries.insertLeased(leased, lease);
    due.sendStored(leased, leasedStored);
    const results = await Promise.allSettled([eventsStored, leasedStored]);
    for (const result of results) if (result.status === 'rejected') throw result.reason;
    await deliveries.insert(others);
    // The caller does not wait for this. If it fails, a sweep sends the deliveries, because they are stored.
    due
      .stored(others)
      .catch((error: unknown) => logger.warn({ err: error }, 'first attempts could not be scheduled'));
  }

  /** Stores the events of all calls of the moment together. If the database refuses an event, each call is tried alone. */
  const storeTogether = createGroupCommit<readonly First[], undefined>({
    async run(calls) {
      try {
        await store(calls.flat());
        return calls.map(() => undefined);
      } catch (error) {
        if (calls.length === 1 || isUnavailable(error)) throw error;
        const alone = await Promise.allSettled(calls.map(store));
        return alone.map((result) => (result.status === 'rejected' ? (result.reason as Error) : undefined));
      }
    },
  });

  return async (drafts) => {
    if (drafts.length === 0) return;
    settings.published?.(drafts.length);
    const at = new Date(clock.now());
    await storeTogether(await Promise.all(drafts.map((draft) => compose(draft, at))));
  };
}
