import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { reference } from './references.ts';

/**
 * `paused`: its events wait. `dead`: for 15 minutes and three attempts, none has succeeded. `failing`: the last attempt failed.
 * `idle`: nothing was attempted within a day.
 */
export const EndpointState = z.enum(['dead', 'failing', 'paused', 'ok', 'idle']);
export type EndpointState = z.infer<typeof EndpointState>;

/** What an endpoint answered: an HTTP status, or the class of the error. */
export const EndpointAnswer = z.strictObject({
  answer: z.string(),
  count: z.number().int(),
  firstAt: DateTime,
  lastAt: DateTime,
});

/** How an endpoint does, by its last attempts: those of at most 500 deliveries within a day. */
export const EndpointHealth = z.strictObject({
  keyId: z.string(),
  partnerId: z.string(),
  mode: Mode,
  state: EndpointState,
  /** Attempts that the figures are of, and when the first of them was made. */
  attempts: z.number().int(),
  since: DateTime.nullable(),
  /** Of these attempts, from 0 to 1; null without any. */
  successShare: z.number().nullable(),
  lastSuccessAt: DateTime.nullable(),
  /** The first failure since the last success. */
  failingSince: DateTime.nullable(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  /** The most frequent ones. */
  answers: z.array(EndpointAnswer),
  /** Due and not sent, up to 10,000. */
  queued: z.number().int(),
  inFlight: z.number().int(),
  /** Why they are not sent. */
  cause: z.string().nullable(),
  pausedUntil: DateTime.nullable(),
});
export type EndpointHealth = z.infer<typeof EndpointHealth>;

/** The health of an endpoint as lists show it. */
export const ListedHealth = EndpointHealth.extend({ partnerName: z.string().nullable() });

/** Of one key, or of the keys of a partner. Without either: of those with failed or overdue deliveries. The worst come first. */
export const ReadHealth = z.strictObject({
  keyId: reference('apiKey').optional(),
  partnerId: reference('partner').optional(),
  mode: Mode.optional(),
  limit: z.number().int().min(1).max(50).default(10),
});
export type ReadHealth = z.infer<typeof ReadHealth>;
