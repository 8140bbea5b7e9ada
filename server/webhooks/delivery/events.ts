import { schemaOf } from '../../../contracts/events.ts';
import { retentionMs } from '../../../contracts/retention.ts';
import { attemptLimit, type SkipReason } from '../../../contracts/webhooks.ts';
import type { EventDraft } from '../../platform/database/event-draft.ts';
import { deriveId } from '../../platform/ids.ts';
import { type Delivery, type Leased, type StoredEvent, skipFor } from './delivery.ts';
import type { Lease } from './delivery-store.ts';

/** When an event or delivery made at `at` is deleted: 30 days later (docs/choices.md). */
export const purgeDate = (at: Date): Date => new Date(at.getTime() + retentionMs.event);

/**
 * Makes the event of a draft. The same cause always gives the same id and the same bytes. The draft's `clientId` is not kept,
 * because it only serves to find the key that gets the event.
 * @throws ZodError if the draft's fields do not fit the contract
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

/** Why a delivery is made, and when its first attempt is due. */
export interface DeliveryStart
  extends Pick<Delivery, 'trigger' | 'resendOf' | 'to' | 'operatorId' | 'bulkId'>,
    Partial<Pick<Delivery, 'limit'>> {
  id: string;
  dueAt: Date;
  now: Date;
}

export function markSkipped(
  { nextAttemptAt: _due, ...delivery }: Delivery,
  reason: SkipReason,
  at: Date,
): Delivery {
  return { ...delivery, status: 'skipped', skipped: skipFor(reason, at), endedAt: at };
}

export function composeDelivery(
  { _id: eventId, body: _body, createdAt: _createdAt, purgeAt: _purgeAt, ...event }: StoredEvent,
  { id, trigger, dueAt, now, limit = attemptLimit, ...origin }: DeliveryStart,
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
    // Resends wait with the retries, so that they delay no first attempt.
    lane: trigger === 'resend' ? 'retry' : 'first',
    nextAttemptAt: dueAt,
    ...origin,
    createdAt: now,
    purgeAt: purgeDate(now),
  };
}

/** A delivery whose first attempt is leased before it is stored, so that it is sent from memory. */
export function markLeased(
  { nextAttemptAt: dueAt, ...delivery }: Delivery,
  { body, parties }: Pick<Leased, 'body' | 'parties'>,
  { token, now, until }: Lease,
): Leased {
  const { attempt, trigger } = delivery;
  const row = { attempt, trigger, dueAt: dueAt ?? now, at: now };
  return { ...delivery, status: 'in_flight', attempts: [row], lease: { token, until }, body, parties };
}

/** The id of an event's first delivery. It is derived, so publishing an event twice makes one delivery. */
export const deliveryId = (eventId: string, idKey: Uint8Array): string =>
  deriveId(idKey, 'delivery', [eventId]);
