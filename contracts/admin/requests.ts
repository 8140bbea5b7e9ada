import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { AuditLogEntry } from './audit-log.ts';

/** What one request to the public API did. Holds no secret, code or token; kept for a week. */
export const RequestView = z.strictObject({
  id: z.string(),
  at: DateTime,
  method: z.string(),
  /** The route as it is mounted, not the path that was asked for. */
  route: z.string(),
  status: z.number().int(),
  durationMs: z.number().int(),
  /** Code and words of the error that was answered; null for a success. */
  error: z.string().nullable(),
  description: z.string().nullable(),
  /** As the caller named them, secrets masked; at least one of them, or the API key, exists. */
  clientId: z.string().nullable(),
  sessionId: z.string().nullable(),
  integrationId: z.string().nullable(),
  /** Seconds until the limit that was met rolls over. */
  retryAfter: z.number().int().nullable(),
  /** The network that it came from: /24 of IPv4, /48 of IPv6; null where the user of the session was erased. */
  address: z.string().nullable(),
});
export type RequestView = z.infer<typeof RequestView>;

export const RequestReference = z.strictObject({
  requestId: z
    .string()
    .regex(/^req_[0-9A-Za-z]{22}$/, { error: 'expected the X-Request-Id of an answer: req_…' }),
});

/** A request of the public API, what it changed through the admin API, or both. */
export const RequestStory = z.strictObject({
  id: z.string(),
  request: RequestView.nullable(),
  changes: z.array(AuditLogEntry),
});
export type RequestStory = z.infer<typeof RequestStory>;
