import type { SkipReason } from '../../../contracts/webhooks.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EventDraft, Publish } from '../../platform/database/event-draft.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Delivery, Leased, StoredEvent } from './delivery.ts';
import type { DeliveryStore, Lease } from './delivery-store.ts';
import type { EventStore } from './event-store.ts';
import { composeDelivery, composeEvent, deliveryId, markLeased, markSkipped } from './events.ts';

/** The key whose webhook URL gets an event. */
export interface Recipient {
  keyId: string;
  /** Why nothing can be sent to this key; undefined if it can. */
  skip?: SkipReason;
}

export interface PublishSettings {
  events: Pick<EventStore, 'insert'>;
  deliveries: Pick<DeliveryStore, 'insert' | 'insertLeased'>;
  /** Finds the key that gets an event. Default: the key of the draft. */
  recipient?: ((draft: EventDraft) => Promise<Recipient>) | undefined;
  newLease: () => Lease;
  /** Takes a slot for a first attempt. Undefined if it has to wait, and in a process that sends nothing. */
  reserve: (keyId: string) => SendFirst | undefined;
  /** Sends the due ones of stored deliveries. */
  dispatch: (stored: readonly Delivery[]) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  /** The key from which identifiers of events are derived. */
  idKey: Uint8Array;
  logger: Pick<Logger, 'warn'>;
  /** Called with the number of events in each batch that is published. */
  published?: ((count: number) => void) | undefined;
}

/** Sends a first attempt in the slot that was taken for it, or frees the slot. */
type SendFirst = (delivery: Leased | undefined) => void;

/** An event and its first delivery. */
interface First {
  event: StoredEvent;
  delivery: Delivery;
}

interface LeasedFirst {
  delivery: Leased;
  send: SendFirst;
}

const keyOfDraft = async ({ keyId }: EventDraft): Promise<Recipient> => ({ keyId });

/**
 * Returns a function that publishes events. Publishing an event twice changes nothing, because the ids of the event and of its
 * first delivery are derived. So a caller that was interrupted publishes its events again.
 */
export function createPublish(settings: PublishSettings): Publish {
  const { events, deliveries, recipient = keyOfDraft, clock, idKey, logger } = settings;
  const { newLease, reserve, dispatch } = settings;

  /** Composes the event of a draft and its first delivery. */
  async function compose(draft: EventDraft, now: Date): Promise<First> {
    const { keyId, skip } = await recipient(draft);
    const event = composeEvent({ ...draft, keyId }, idKey);
    const id = deliveryId(event._id, idKey);
    const delivery = composeDelivery(event, { id, trigger: 'event', dueAt: now, now });
    return { event, delivery: skip ? markSkipped(delivery, skip, now) : delivery };
  }

  /** Stores the deliveries that are leased already, and sends those that were stored. Frees the slots of the others. */
  async function storeAndSend(leased: readonly LeasedFirst[], lease: Lease): Promise<void> {
    let ours: ReadonlySet<string> = new Set();
    try {
      ours = await deliveries.insertLeased(
        leased.map(({ delivery }) => delivery),
        lease,
      );
    } finally {
      // Without an acknowledgement, the lease of a stored delivery runs out, and recovery sends it.
      for (const { delivery, send } of leased) send(ours.has(delivery._id) ? delivery : undefined);
    }
  }

  return async (drafts) => {
    if (drafts.length === 0) return;
    settings.published?.(drafts.length);
    const at = new Date(clock.now());
    const composed = await Promise.all(drafts.map((draft) => compose(draft, at)));
    // Drafts of the same cause are one event, which must not be sent in two slots.
    const firsts = [...new Map(composed.map((first) => [first.event._id, first])).values()];
    const lease = newLease();
    const leased: LeasedFirst[] = [];
    const others: Delivery[] = [];
    for (const { event, delivery } of firsts) {
      const send = delivery.status === 'pending' ? reserve(delivery.keyId) : undefined;
      if (send) leased.push({ delivery: markLeased(delivery, event, lease), send });
      else others.push(delivery);
    }
    // Both together, because no other process sends a leased delivery before its event is stored.
    const stored = await Promise.allSettled([
      events.insert(firsts.map(({ event }) => event)),
      storeAndSend(leased, lease),
    ]);
    for (const result of stored) if (result.status === 'rejected') throw result.reason;
    await deliveries.insert(others);
    // The caller does not wait for this. If it fails, a sweep sends the deliveries, because they are stored.
    dispatch(others).catch((error: unknown) =>
      logger.warn({ err: error }, 'first attempts could not be scheduled'),
    );
  };
}
