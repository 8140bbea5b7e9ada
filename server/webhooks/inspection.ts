import type { ListDeliveries } from '../../contracts/admin/deliveries.ts';
import type { EventDetail, EventStory, EventView, ListEvents } from '../../contracts/admin/events.ts';
import type { Clock } from '../platform/clock.ts';
import { ApiError } from '../platform/errors.ts';
import type { Delivery, StoredEvent } from './delivery.ts';
import type { EventStore } from './event-store.ts';
import { type HistoryStore, queryOf } from './history-store.ts';
import { tell } from './story.ts';
import { viewEvent } from './views.ts';

interface Settings {
  events: EventStore;
  history: HistoryStore;
  clock: Pick<Clock, 'now'>;
  /** @throws ApiError `not_found` */
  existing: (deliveryId: string) => Promise<Delivery>;
}

export type Inspection = ReturnType<typeof createInspection>;

/** What operators can find out about events and deliveries. All methods throw ApiError. */
export function createInspection({ events, history, clock, existing }: Settings) {
  async function existingEvent(id: string): Promise<StoredEvent> {
    const event = await events.find(id);
    if (!event)
      throw new ApiError('not_found', { description: `No event ${id}; events are kept for 30 days` });
    return event;
  }

  return {
    async listEvents({ limit, after, ...narrowing }: ListEvents): Promise<EventView[]> {
      const last = after === undefined ? {} : { after: await existingEvent(after) };
      const found = await events.list(queryOf(narrowing), { limit, ...last });
      const all = await history.ofEvents(found.map(({ _id }) => _id));
      return found.map((one) =>
        viewEvent(
          one,
          all.filter(({ eventId }) => eventId === one._id),
        ),
      );
    },

    async showEvent(id: string): Promise<EventDetail> {
      const event = await existingEvent(id);
      return { ...viewEvent(event, await history.ofEvents([id])), body: event.body };
    },

    async why(id: string): Promise<EventStory> {
      return tell(await existingEvent(id), await history.ofEvents([id]), new Date(clock.now()));
    },

    async listDeliveries({ limit, after, ...narrowing }: ListDeliveries): Promise<Delivery[]> {
      return history.list(queryOf(narrowing), {
        limit,
        ...(after === undefined ? {} : { after: await existing(after) }),
      });
    },
  };
}
