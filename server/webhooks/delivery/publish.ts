import type { SkipReason } from '../../../contracts/webhooks.ts';
import type { Clock } from '../../platform/clock.ts';
import type { EventDraft, Publish } from '../../platform/database/event-draft.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import type { Delivery } from './delivery.ts';
import type { DeliveryStore } from './delivery-store.ts';
import type { EventStore } from './event-store.ts';
import { composeDelivery, composeEvent, deliveryId, markSkipped } from './events.ts';

/** The key whose webhook URL gets an event. */
export interface Recipient {
  keyId: string;
  /** Why nothing can be sent to this key; undefined if it can. */
  skip?: SkipReason;
}

export interface PublishSettings {
  events: Pick<EventStore, 'insert'>;
  deliveries: Pick<DeliveryStore, 'insert'>;
  /** Finds the key that gets an event. Default: the key of the draft. */
  recipient?: ((draft: EventDraft) => Promise<Recipient>) | undefined;
  /** Sends the due ones of stored deliveries. */
  dispatch: (stored: readonly Delivery[]) => Promise<void>;
  clock: Pick<Clock, 'now'>;
  /** The key from which identifiers of events are derived. */
  idKey: Uint8Array;
  logger: Pick<Logger, 'warn'>;
  /** Called with the number of events in each batch that is published. */
  published?: ((count: number) => void) | undefined;
}

const keyOfDraft = async ({ keyId }: EventDraft): Promise<Recipient> => ({ keyId });

/**
 * Returns a function that publishes events. Publishing an event twice changes nothing, because the ids of the event and of its
 * first delivery are derived. So a caller that was interrupted publishes its events again.
 */
export function createPublish(settings: PublishSettings): Publish {
  const { events, deliveries, recipient = keyOfDraft, dispatch, clock, idKey, logger } = settings;

  return async (drafts: readonly EventDraft[]) => {
    if (drafts.length === 0) return;
    settings.published?.(drafts.length);
    const now = new Date(clock.now());
    const addressed = await Promise.all(
      drafts.map(async (draft) => {
        const { keyId, skip } = await recipient(draft);
        return { event: composeEvent({ ...draft, keyId }, idKey), skip };
      }),
    );
    const firstDeliveries = addressed.map(({ event, skip }) => {
      const id = deliveryId(event._id, idKey);
      const delivery = composeDelivery(event, { id, trigger: 'event', dueAt: now, now });
      return skip ? markSkipped(delivery, skip, now) : delivery;
    });
    await events.insert(addressed.map(({ event }) => event));
    await deliveries.insert(firstDeliveries);
    // The caller does not wait for this. If it fails, a sweep sends the deliveries, because they are stored.
    dispatch(firstDeliveries).catch((error: unknown) =>
      logger.warn({ err: error }, 'first attempts could not be scheduled'),
    );
  };
}
