import { z } from 'zod';
import { SentName } from '../events.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { AttemptError, AttemptTrigger, DeliveryStatus, SkipReason, WaitReason } from '../webhooks.ts';
import { boundedSeconds } from './bounded.ts';
import { page, reference } from './references.ts';

/** An attempt to send a delivery. Fields are null until the attempt has ended, or if there was no response. */
export const AttemptView = z.strictObject({
  attempt: z.number().int(),
  trigger: AttemptTrigger,
  dueAt: DateTime,
  at: DateTime,
  /** How long the attempt waited for a free slot after it was due, in milliseconds. */
  waitedMs: z.number().int(),
  durationMs: z.number().int().nullable(),
  /** The status of the HTTP response. */
  status: z.number().int().nullable(),
  error: AttemptError.nullable(),
  detail: z.string().nullable(),
  /** Where it was sent. Null while it is in flight, if it was interrupted, and for attempts before this field existed. */
  url: z.string().nullable(),
  /** The address and the port of the connection. */
  address: z.string().nullable(),
  secretVersion: z.number().int().nullable(),
  /** The first 4 KiB of the response body and two response headers, without secrets. Null after a week. */
  answer: z.string().nullable(),
  location: z.string().nullable(),
  retryAfter: z.string().nullable(),
  /** By how many minutes the receiver's clock is ahead of ours; negative if it is behind. Null if they agree or it is not known. */
  clockAheadMinutes: z.number().int().nullable(),
  nextAttemptAt: DateTime.nullable(),
});
export type AttemptView = z.infer<typeof AttemptView>;

/** The delivery of an event to the URL of a key. `event` is the type of the event. `attempts` are in order of time. */
export const DeliveryView = z.strictObject({
  id: z.string(),
  event: SentName,
  eventId: z.string(),
  partnerId: z.string(),
  mode: Mode,
  keyId: z.string(),
  status: DeliveryStatus,
  attempts: z.array(AttemptView),
  nextAttemptAt: DateTime.nullable(),
  /** Why a due attempt is not sent yet. Null if no attempt is due, or if it has just become due. */
  waiting: WaitReason.nullable(),
  skipped: SkipReason.nullable(),
  /** The delivery that this one repeats. */
  resendOf: z.string().nullable(),
  /** The URL that it goes to instead of the webhook URL of its key. Null for the URL of the key. */
  to: z.string().nullable(),
  createdAt: DateTime,
  endedAt: DateTime.nullable(),
});
export type DeliveryView = z.infer<typeof DeliveryView>;

export const ListedDelivery = DeliveryView.extend({ partnerName: z.string().nullable() });
export type ListedDelivery = z.infer<typeof ListedDelivery>;

/**
 * Another URL for events that are sent again. A test key's go to any URL that it may have as its webhook URL, a live key's to the
 * host of its webhook URL only. They are signed with the secret of the key.
 */
export const otherUrl = z.string().min(1).max(2048).optional();

/** The filter of lists of events and of deliveries. `since` is included in the period, `until` is not. */
export const eventFilter = {
  partnerId: reference('partner').optional(),
  keyId: reference('apiKey').optional(),
  mode: Mode.optional(),
  event: SentName.optional(),
  since: DateTime.optional(),
  until: DateTime.optional(),
};

export const DeliveryReference = z.strictObject({ deliveryId: reference('delivery') });

export const ListDeliveries = z.strictObject({
  ...eventFilter,
  /** `waiting` means pending and already due. */
  status: z.enum([...DeliveryStatus.options, 'waiting']).optional(),
  eventId: reference('event').optional(),
  ...page,
});
export type ListDeliveries = z.infer<typeof ListDeliveries>;

/** The new time of an attempt: a date and time, or a number of seconds from now by the server's clock. */
export interface NewTime {
  at?: string | undefined;
  inSeconds?: number | undefined;
}
/** A new time is at most 30 days ahead. */
const furthestSeconds = 30 * 86_400;
export const newTimeFields = {
  at: DateTime.optional(),
  inSeconds: boundedSeconds(0, furthestSeconds).optional(),
};
/** Adds the rule that exactly one of the fields of `NewTime` is given. A separate step, because zod cannot extend a refined object. */
export const withNewTime = <Schema extends z.ZodType<NewTime>>(schema: Schema) =>
  schema.refine(({ at, inSeconds }) => (at === undefined) !== (inSeconds === undefined), {
    error: 'give either at or inSeconds',
  });

export const RescheduleDelivery = withNewTime(
  z.strictObject({ deliveryId: reference('delivery'), ...newTimeFields }),
);

/** Ids of deliveries to send again. To send again what a filter finds, start a bulk job. */
export const ResendDeliveries = z.strictObject({
  deliveryIds: z.array(reference('delivery')).min(1).max(500),
  to: otherUrl,
  /** Whether to list the deliveries only, without sending them. */
  dryRun: z.boolean().default(false),
});
export type ResendDeliveries = z.infer<typeof ResendDeliveries>;

/** The new deliveries. A dry run returns the deliveries that would be sent again. */
export const ResentDeliveries = z.strictObject({ dryRun: z.boolean(), deliveries: z.array(DeliveryView) });
