import { z } from 'zod';
import { ClaimsMap } from './claims.ts';
import { type EventName, noticeNames, sentNames } from './event-names.ts';
import { DateTime } from './identifiers.ts';
import { FailureReason } from './verification.ts';

/** The name of an event or of a notice. Both are sent to webhook URLs. */
export const SentName = z.enum(sentNames);
export type SentName = z.infer<typeof SentName>;

const envelope = {
  event_id: z.string().describe('The same event may arrive more than once: deduplicate on this'),
  partner_id: z.string(),
};

/** The four events of interface section 6, each with exactly these fields. */
export const eventSchemas = {
  'verification.session.completed': z
    .strictObject({
      event: z.literal('verification.session.completed'),
      ...envelope,
      session_id: z.string(),
      user_id: z.string(),
      status: z.literal('complete'),
      scopes: z.array(z.string()),
      completed_at: DateTime,
    })
    .meta({ id: 'SessionCompletedEvent' }),
  'verification.session.failed': z
    .strictObject({
      event: z.literal('verification.session.failed'),
      ...envelope,
      session_id: z.string(),
      failure_reason: FailureReason,
      failed_at: DateTime,
    })
    .meta({ id: 'SessionFailedEvent' }),
  'enrollment.created': z
    .strictObject({
      event: z.literal('enrollment.created'),
      ...envelope,
      enrollment_id: z.string(),
      user_id: z.string(),
      created_at: DateTime,
    })
    .meta({ id: 'EnrollmentCreatedEvent' }),
  'vae.resolved': z
    .strictObject({
      event: z.literal('vae.resolved'),
      ...envelope,
      user_id: z.string(),
      claims: ClaimsMap,
      resolved_at: DateTime,
    })
    .meta({ id: 'VerifiedAccessEvent' }),
} as const satisfies Record<EventName, z.ZodObject>;

type EventSchema = (typeof eventSchemas)[EventName];
export const WebhookEvent = z.discriminatedUnion(
  'event',
  Object.values(eventSchemas) as [EventSchema, ...EventSchema[]],
);

/** A notice. All notices have the same schema, so that a receiver need not know their names. */
export const NoticeEvent = z
  .strictObject({
    event: z.enum(noticeNames),
    ...envelope,
    notice_id: z.string().describe('The same when it begins and when it is over'),
    state: z.enum(['raised', 'over']),
    about: z.string().describe('The API key, client, integration, or the mode of the wallet'),
    text: z.string().describe('For people'),
    since: DateTime,
    over_at: DateTime.nullable(),
  })
  .meta({ id: 'NoticeEvent' });

/** Returns the schema of the body of an event. */
export const schemaOf = (name: SentName): z.ZodObject =>
  name in eventSchemas ? eventSchemas[name as EventName] : NoticeEvent;

/** The body of anything that is sent to a webhook URL. */
export const SentEvent = z.union([WebhookEvent, NoticeEvent]);
