import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { AuditLogEntry } from './audit-log.ts';
import { found, page, reference } from './references.ts';

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
  /** The partner whose client, key, integration or session was named, and the API key where one was sent. */
  partnerId: z.string().nullable(),
  keyId: z.string().nullable(),
  /** As the caller named them, secrets masked; at least one of them, or the API key, exists. */
  clientId: z.string().nullable(),
  sessionId: z.string().nullable(),
  integrationId: z.string().nullable(),
  /** Seconds until the limit that was met rolls over. */
  retryAfter: z.number().int().nullable(),
  /** What a refused request sent, secrets masked; null for others, and where the user of the session was erased. */
  redirectUri: z.string().nullable(),
  shop: z.string().nullable(),
  /** The network that it came from: /24 of IPv4, /48 of IPv6; null where the user of the session was erased. */
  address: z.string().nullable(),
});
export type RequestView = z.infer<typeof RequestView>;

/** A request as lists show it. */
export const ListedRequest = RequestView.extend({ partnerName: z.string().nullable() });

const RequestId = z
  .string()
  .regex(/^req_[0-9A-Za-z]{22}$/, { error: 'expected the X-Request-Id of an answer: req_…' });

export const RequestReference = z.strictObject({ requestId: RequestId });

/** A request of the public API, the changes of a call of the admin API, or both. */
export const RequestHistory = z.strictObject({
  id: z.string(),
  request: RequestView.nullable(),
  changes: z.array(AuditLogEntry),
});
export type RequestHistory = z.infer<typeof RequestHistory>;

export const ListRequests = z.strictObject({
  partnerId: reference('partner').optional(),
  clientId: reference('client').optional(),
  sessionId: reference('session').optional(),
  status: z
    .string()
    .regex(/^[1-5](xx|\d\d)$/, { error: 'expected a status such as 404, or a class such as 4xx' })
    .optional(),
  /** The beginning of the route as it is mounted, such as `/api/oauth`. */
  path: z
    .string()
    .max(128)
    .regex(/^\//, { error: 'expected the beginning of a path, such as /api/oauth' })
    .optional(),
  error: z.string().min(1).max(64).optional(),
  since: DateTime.optional(),
  until: DateTime.optional(),
  ...page,
  after: RequestId.optional(),
});
export type ListRequests = z.infer<typeof ListRequests>;

export const FoundRequests = found(ListedRequest);

export const ListRefused = z.strictObject({
  partnerId: reference('partner').optional(),
  since: DateTime,
  limit: page.limit,
});
export type ListRefused = z.infer<typeof ListRefused>;

/** Exchanges of one partner that were refused for one reason: since when, and the last of them. */
export const RefusedView = z.strictObject({
  partnerId: z.string().nullable(),
  partnerName: z.string().nullable(),
  error: z.string(),
  /** Which limit it was; null for other errors. */
  limit: z.string().nullable(),
  count: z.number().int(),
  firstAt: DateTime,
  lastAt: DateTime,
  lastRequest: z.string(),
});
export type RefusedView = z.infer<typeof RefusedView>;

/** The most frequent first. `countedSince` is later than what was asked for where there were too many. */
export const RefusedExchanges = z.strictObject({ rows: z.array(RefusedView), countedSince: DateTime });
