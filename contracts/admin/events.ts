import { z } from 'zod';
import { SentName } from '../events.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { DeliveryStatus } from '../webhooks.ts';
import { AttemptView, eventFilter } from './deliveries.ts';
import { page, readReason, reference } from './references.ts';

/** An event with the state of its deliveries. `event` is its type. `status` and `attempts` are over all its deliveries. */
export const EventView = z.strictObject({
  id: z.string(),
  event: SentName,
  partnerId: z.string(),
  mode: Mode,
  keyId: z.string(),
  sessionId: z.string().nullable(),
  enrollmentId: z.string().nullable(),
  sub: z.string().nullable(),
  createdAt: DateTime,
  /** `delivered` if any delivery was delivered, else the status of the last delivery. */
  status: DeliveryStatus,
  attempts: z.array(AttemptView),
  nextAttemptAt: DateTime.nullable(),
  /** The deliveries of the event, the first one first. */
  deliveryIds: z.array(z.string()),
});
export type EventView = z.infer<typeof EventView>;

export const ListedEvent = EventView.extend({ partnerName: z.string().nullable() });

/** An event with the body that every attempt sends, byte for byte. For the role ops, claims and `user_id` are masked. */
export const EventDetail = z.strictObject({ ...EventView.shape, body: z.string() });
export type EventDetail = z.infer<typeof EventDetail>;

export const EventReference = z.strictObject({ eventId: reference('event') });
export const ReadEvent = z.strictObject({ ...EventReference.shape, ...readReason });

export const ListEvents = z.strictObject({
  ...eventFilter,
  sessionId: reference('session').optional(),
  enrollmentId: reference('enrollment').optional(),
  /** The `user_id` of the event. */
  sub: z.string().min(1).max(128).optional(),
  ...page,
});
export type ListEvents = z.infer<typeof ListEvents>;

/** What happened to an event, as sentences in order of time. */
export const EventTimeline = z.strictObject({
  id: z.string(),
  event: SentName,
  status: DeliveryStatus,
  story: z.array(z.string()),
  /** What to do now. Null if nothing is to be done. */
  advice: z.string().nullable(),
});
export type EventTimeline = z.infer<typeof EventTimeline>;
