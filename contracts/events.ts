import { z } from 'zod';
import { ClaimsMap } from './claims.ts';
import type { EventName } from './event-names.ts';
import { DateTime } from './identifiers.ts';
import { FailureReason } from './verification.ts';

const envelope = {
  event_id: z.string().describe('The same event may arrive more than once: deduplicate on this'),
  partner_id: z.string(),
};

/** Interface section 6: the four events, each with exactly these fields. */
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
export type WebhookEvent = z.infer<typeof WebhookEvent>;
