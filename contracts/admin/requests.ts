import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { AuditLogEntry } from './audit-log.ts';
import { page, reference, searchResult, Total } from './references.ts';

/** A request to the public API. It contains no secret, code or token. It is kept for a week. */
export const RequestView = z.strictObject({
  id: z.string(),
  at: DateTime,
  method: z.string(),
  /** The pattern of the route, not the path of the request. */
  route: z.string(),
  status: z.number().int(),
  durationMs: z.number().int(),
  /** The code and the message of the error in the response. Null for a success. */
  error: z.string().nullable(),
  description: z.string().nullable(),
  /** The partner of the named client, key, integration or session, and the API key if one was sent. */
  partnerId: z.string().nullable(),
  keyId: z.string().nullable(),
  /** The ids as the caller wrote them, with secrets masked. At least one of them, or the API key, exists. */
  clientId: z.string().nullable(),
  sessionId: z.string().nullable(),
  integrationId: z.string().nullable(),
  /** The seconds until the reached limit is reset. */
  retryAfter: z.number().int().nullable(),
  /** The values that a refused request sent, with secrets masked. Null for others, and if the session's user was erased. */
  redirectUri: z.string().nullable(),
  shop: z.string().nullable(),
  /** The network of the caller: /24 of IPv4, /48 of IPv6. Null if the session's user was erased. */
  address: z.string().nullable(),
});
export type RequestView = z.infer<typeof RequestView>;

export const ListedRequest = RequestView.extend({ partnerName: z.string().nullable() });

const RequestId = z
  .string()
  .regex(/^req_[0-9A-Za-z]{22}$/, { error: 'expected the X-Request-Id of an answer: req_…' });

export const RequestReference = z.strictObject({ requestId: RequestId });

/** A record that is off, so that requests of its partner's programs are refused. */
export const InactiveRecord = z.strictObject({
  kind: z.enum(['partner', 'client', 'API key', 'integration']),
  id: z.string(),
  name: z.string(),
  status: z.string(),
  /** Since when it is off. Null if the audit log does not have the change. */
  since: DateTime.nullable(),
  /** The command that ends the refusals, without the name of the program. */
  next: z.string(),
});
export type InactiveRecord = z.infer<typeof InactiveRecord>;

/** A request of the public API, the changes of a call of the admin API, or both. */
export const RequestHistory = z.strictObject({
  id: z.string(),
  request: RequestView.nullable(),
  /** The records whose status refused the request, if they still would. Null if a status did not refuse it. */
  inactive: z.array(InactiveRecord).nullable(),
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
  /** The beginning of the route pattern, such as `/api/oauth`. */
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

/** Since when a part of the requests was dropped under load. Null if the log has all requests of the count or list. */
const sampling = { sampledSince: DateTime.nullable() };

export const FoundRequests = searchResult(ListedRequest).extend(sampling);
export const SampledTotal = Total.extend(sampling);

/** Selects the refused requests of a period, which ends now if it has no `until`, of one partner or of all. */
export const ListRefused = z.strictObject({
  partnerId: reference('partner').optional(),
  since: DateTime,
  until: DateTime.optional(),
  limit: page.limit,
});
export type ListRefused = z.infer<typeof ListRefused>;

/** The requests of one partner that were refused at one route for one reason, with the times of the first and the last one. */
export const RefusedView = z.strictObject({
  partnerId: z.string().nullable(),
  partnerName: z.string().nullable(),
  /** The template of the path, such as `/verify/start`. */
  route: z.string(),
  /** Empty if the answer had no code. */
  error: z.string(),
  /** The limit that was exceeded, as the responses named it. Null if the error is not about a limit. */
  limit: z.string().nullable(),
  count: z.number().int(),
  firstAt: DateTime,
  lastAt: DateTime,
  lastRequest: z.string(),
  ...sampling,
});

/** Refused requests, the most frequent first. If there were too many to count, `countedSince` is later than requested. */
export const RefusedRequests = z.strictObject({ rows: z.array(RefusedView), countedSince: DateTime });
