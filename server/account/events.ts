import { type EventsQuery, type EventsResponse, listedAfterMs } from '../../contracts/account.ts';
import { SentEvent } from '../../contracts/events.ts';
import { ApiError } from '../platform/errors.ts';

interface StoredEvent {
  _id: string;
  keyId: string;
  body: string;
  createdAt: Date;
}

interface Dependencies {
  events: {
    /** A stored event by its id; null where it does not exist or was deleted. */
    find(id: string): Promise<StoredEvent | null>;
    /** The events of one key until a time, oldest first. */
    ofKey(
      keyId: string,
      page: { until: Date; limit: number; after: StoredEvent | undefined },
    ): Promise<StoredEvent[]>;
  };
  clock: { now(): number };
}

/** `GET /api/events`: what a key's webhook URL was sent, or would have been, of 30 days. */
export function createEventList({ events, clock }: Dependencies) {
  /** @throws ApiError event_not_found for another key's event, and for one that is not kept any more */
  async function known(id: string, keyId: string): Promise<StoredEvent> {
    const event = await events.find(id);
    if (event?.keyId !== keyId) throw new ApiError('event_not_found');
    return event;
  }

  return async (keyId: string, { after, limit }: EventsQuery): Promise<EventsResponse> => {
    const found = await events.ofKey(keyId, {
      until: new Date(clock.now() - listedAfterMs),
      limit: limit + 1,
      after: after === undefined ? undefined : await known(after, keyId),
    });
    const page = found.slice(0, limit);
    return {
      success: true,
      events: page.map(({ body }) => SentEvent.parse(JSON.parse(body))),
      hasMore: found.length > limit,
    };
  };
}
export type EventList = ReturnType<typeof createEventList>;
