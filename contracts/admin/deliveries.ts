import { z } from 'zod';
import { sentNames } from '../event-names.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { AttemptError, AttemptTrigger, DeliveryStatus, SkipReason, WaitReason } from '../webhooks.ts';
import { page, reference } from './references.ts';

export const EventName = z.enum(sentNames);

/** One POST, or the try of one. Null until it has ended, or where there was none. */
export const AttemptView = z.strictObject({
  attempt: z.number().int(),
  trigger: AttemptTrigger,
  dueAt: DateTime,
  at: DateTime,
  /** Milliseconds between due and sent: what it waited for a free slot. */
  waitedMs: z.number().int(),
  durationMs: z.number().int().nullable(),
  /** Of the HTTP answer. */
  status: z.number().int().nullable(),
  error: AttemptError.nullable(),
  detail: z.string().nullable(),
  /** Address and port that were dialled. */
  address: z.string().nullable(),
  secretVersion: z.number().int().nullable(),
  /** The first 4 KiB of the answer's body and two of its headers, without secrets; null after a week. */
  answer: z.string().nullable(),
  location: z.string().nullable(),
  retryAfter: z.string().nullable(),
  nextAttemptAt: DateTime.nullable(),
});
export type AttemptView = z.infer<typeof AttemptView>;

/** One event on its way to one key's URL. `event` is its type, `attempts` in order of time. */
export const DeliveryView = z.strictObject({
  id: z.string(),
  event: EventName,
  eventId: z.string(),
  partnerId: z.string(),
  mode: Mode,
  keyId: z.string(),
  status: DeliveryStatus,
  attempts: z.array(AttemptView),
  nextAttemptAt: DateTime.nullable(),
  /** Why an attempt that is due is not sent yet; null where none is due, or it has just fallen due. */
  waiting: WaitReason.nullable(),
  skipped: SkipReason.nullable(),
  /** The delivery that this one repeats. */
  resendOf: z.string().nullable(),
  createdAt: DateTime,
  endedAt: DateTime.nullable(),
});
export type DeliveryView = z.infer<typeof DeliveryView>;

/** A delivery as lists show it. */
export const ListedDelivery = DeliveryView.extend({ partnerName: z.string().nullable() });
export type ListedDelivery = z.infer<typeof ListedDelivery>;

const filter = {
  partnerId: reference('partner').optional(),
  keyId: reference('apiKey').optional(),
  mode: Mode.optional(),
  event: EventName.optional(),
  since: DateTime.optional(),
  until: DateTime.optional(),
};

export const DeliveryReference = z.strictObject({ deliveryId: reference('delivery') });

export const ListDeliveries = z.strictObject({
  ...filter,
  /** `waiting`: pending, and due already. */
  status: z.enum([...DeliveryStatus.options, 'waiting']).optional(),
  eventId: reference('event').optional(),
  ...page,
});
export type ListDeliveries = z.infer<typeof ListDeliveries>;

/** When an attempt is to be made: a time, or so many seconds from now by the server's clock. */
export const RescheduleTime = {
  fields: {
    at: DateTime.optional(),
    inSeconds: z
      .number()
      .int()
      .min(0)
      .max(30 * 86_400)
      .optional(),
  },
  isOne: ({ at, inSeconds }: NewTime): boolean => (at === undefined) !== (inSeconds === undefined),
  fault: 'give either at or inSeconds',
};
export interface NewTime {
  at?: string | undefined;
  inSeconds?: number | undefined;
}

export const RescheduleDelivery = z
  .strictObject({ deliveryId: reference('delivery'), ...RescheduleTime.fields })
  .refine(RescheduleTime.isOne, { error: RescheduleTime.fault });

/** Deliveries to send again, by name; a bulk job sends again what a filter finds. */
export const ResendDeliveries = z.strictObject({
  deliveryIds: z.array(reference('delivery')).min(1).max(500),
  /** Says which ones, and sends nothing. */
  dryRun: z.boolean().default(false),
});
export type ResendDeliveries = z.infer<typeof ResendDeliveries>;

/** The new deliveries; in a dry run, those that would be repeated. */
export const ResentDeliveries = z.strictObject({
  dryRun: z.boolean(),
  deliveries: z.array(DeliveryView),
});
export type ResentDeliveries = z.infer<typeof ResentDeliveries>;
