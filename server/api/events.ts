import { type EventsQuery, type EventsResponse, listedAfterMs } from '../../contracts/account.ts';
import { SentEvent } from '../../contracts/events.ts';
import { ApiError } from '../platform/errors.ts';
import type { StoredEvent } from '../webhooks/delivery/delivery.ts';
import type { EventStore } from '../webhooks/delivery/event-store.ts';

interface Dependencies {
  events: Pick<EventStore, 'find' | 'ofKey'>;
  clock: { now(): number };
}

/** Makes the handler of `GET /api/events`. It lists the events of a key of the last 30 days, also if the key has no webhook URL. */
export function createEventList({ events, clock }: Dependencies) {
  /** Returns an event of a key. @throws ApiError `event_not_found` if the key has no such event, or if it was deleted */
  async function requireEvent(id: string, keyId: string): Promise<StoredEvent> {
    const event = await events.find(id);
    if (event?.keyId !== keyId) throw new ApiError('event_not_found');
    return event;
  }

  return async (keyId: string, { after, limit }: EventsQuery): Promise<EventsResponse> => {
    const found = await events.ofKey(keyId, {
      // Events may be stored a little later than their time. After this delay, no event can come before one that was listed.
      until: new Date(clock.now() - listedAfterMs),
      // One more than asked for shows whether there are more.
      limit: limit + 1,
      after: after === undefined ? undefined : await requireEvent(after, keyId),
    });
    const page = found.slice(0, limit);
    return {
      success: true,
      // The stored body is the text that webhooks send.
      events: page.map(({ body }) => SentEvent.parse(JSON.parse(body))),
      hasMore: found.length > limit,
    };
  };
}
export type EventList = ReturnType<typeof createEventList>;
