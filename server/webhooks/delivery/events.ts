import { schemaOf } from '../../../contracts/events.ts';
import { type AttemptTrigger, attemptLimit, type SkipReason } from '../../../contracts/webhooks.ts';
import type { EventDraft } from '../../platform/database/event-draft.ts';
import { deriveId } from '../../platform/ids.ts';
import type { Delivery, StoredEvent } from './delivery.ts';

const retentionMs = 30 * 24 * 3_600_000;

/** When an event or delivery made at `at` is deleted: 30 days on (docs/choices.md). */
export const purgeDate = (at: Date): Date => new Date(at.getTime() + retentionMs);

/**
 * The event that a draft stands for. The same cause leads to the same id and the same bytes always.
 * @throws ZodError where the draft's fields are not those of the contract
 */
export function composeEvent(
  { type, cause, about, fields, at, clientId: _client, ...owner }: EventDraft,
  idKey: Uint8Array,
): StoredEvent {
  const id = deriveId(idKey, 'event', [type, ...cause]);
  const payload = schemaOf(type).parse({
    event: type,
    event_id: id,
    partner_id: owner.partnerId,
    ...fields,
  });
  return {
    _id: id,
    type,
    ...owner,
    ...about,
    body: JSON.stringify(payload),
    createdAt: at,
    purgeAt: purgeDate(at),
  };
}

/** How a delivery begins, when it is not the event's own. */
export interface Beginning {
  id: string;
  trigger: AttemptTrigger;
  dueAt: Date;
  now: Date;
  limit?: number;
  resendOf?: string;
  operatorId?: string;
  bulkId?: string;
}

/** The delivery as it ends where its key has no endpoint: nothing is sent. */
export function skipped(
  { nextAttemptAt: _due, ...delivery }: Delivery,
  reason: SkipReason,
  at: Date,
): Delivery {
  return { ...delivery, status: 'skipped', skipped: { reason, at }, endedAt: at };
}

/** A new series of attempts of an event. */
export function composeDelivery(
  { _id: eventId, body: _body, createdAt: _createdAt, purgeAt: _purgeAt, ...event }: StoredEvent,
  { id, trigger, dueAt, now, limit = attemptLimit, ...origin }: Beginning,
): Delivery {
  return {
    _id: id,
    eventId,
    ...event,
    status: 'pending',
    attempts: [],
    limit,
    attempt: 1,
    trigger,
    lane: trigger === 'resend' ? 'retry' : 'first',
    nextAttemptAt: dueAt,
    ...origin,
    createdAt: now,
    purgeAt: purgeDate(now),
  };
}

/** The identifier of an event's own delivery: publishing an event twice makes it once. */
export const deliveryId = (eventId: string, idKey: Uint8Array): string =>
  deriveId(idKey, 'delivery', [eventId]);
