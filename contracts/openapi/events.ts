import { type EventName, eventNames } from '../event-names.ts';
import { sample } from './samples.ts';

const envelope = (event: EventName) => ({ event, event_id: sample.event, partner_id: sample.partner });

const examples: Record<EventName, { schema: string; summary: string; example: Record<string, unknown> }> = {
  'verification.session.completed': {
    schema: 'SessionCompletedEvent',
    summary: 'A user completed the flow and an authorization code was issued',
    example: {
      session_id: sample.session,
      user_id: sample.sub,
      status: 'complete',
      scopes: ['age_18_plus', 'country'],
      completed_at: sample.at,
    },
  },
  'verification.session.failed': {
    schema: 'SessionFailedEvent',
    summary: 'A session ended in failure',
    example: { session_id: sample.session, failure_reason: 'document_rejected', failed_at: sample.at },
  },
  'enrollment.created': {
    schema: 'EnrollmentCreatedEvent',
    summary: 'A user authenticated with the application for the first time',
    example: { enrollment_id: sample.enrollment, user_id: sample.sub, created_at: sample.at },
  },
  'vae.resolved': {
    schema: 'VerifiedAccessEvent',
    summary: 'The code of a returning user was exchanged for a token',
    example: { user_id: sample.sub, claims: sample.claims, resolved_at: sample.at },
  },
};

const header = (name: string, description: string, pattern?: string) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string', ...(pattern ? { pattern } : {}) },
});

const parameters = [
  header(
    'X-SVC-Signature',
    'HMAC-SHA256 of the raw body under the signing secret, `whsec_` included',
    '^sha256=[0-9a-f]{64}$',
  ),
  header('X-SVC-Event-Id', 'The event, `event_id` of the body'),
  header('X-SVC-Event', 'Its type, `event` of the body'),
  header('X-SVC-Attempt', 'Number of this attempt, from 1'),
  header('webhook-id', 'Standard Webhooks: the event'),
  header('webhook-timestamp', 'Standard Webhooks: Unix seconds of this attempt'),
  header('webhook-signature', 'Standard Webhooks: `v1,` and the base64 signature'),
];

/** The four events of interface section 6, as they are posted to the partner (4.7). */
export const webhooks = Object.fromEntries(
  eventNames.map((type) => {
    const { schema, summary, example } = examples[type];
    const post = {
      operationId: schema,
      tags: ['Webhooks'],
      summary,
      description:
        'Answer any 2xx within 10 seconds; the body is not looked at. Otherwise attempts 2 and 3 follow after 1 and 5 minutes. Verify the signature on the raw body, then deduplicate on `event_id`.',
      security: [],
      parameters,
      requestBody: {
        required: true,
        content: {
          'application/json': {
            schema: { $ref: `#/components/schemas/${schema}` },
            example: { ...envelope(type), ...example },
          },
        },
      },
      responses: {
        '2XX': { description: 'Received.' },
        '4XX': { description: 'A failed attempt, like everything outside 2xx.' },
      },
    };
    return [type, { post }];
  }),
);
