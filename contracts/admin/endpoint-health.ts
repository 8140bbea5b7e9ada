import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { AttemptError } from '../webhooks.ts';
import { reference } from './references.ts';

/**
 * The state of a webhook endpoint. `paused`: the events wait. `dead`: for at least 15 minutes and three attempts, no attempt has
 * succeeded. `failing`: the last attempt failed. `held`: this service cannot make the attempts that are due.
 * `slow`: the last attempt succeeded, but the p95 of those that succeeded is at least half of what one may take. `idle`: there was
 * no attempt within a day.
 */
export const EndpointState = z.enum(['dead', 'failing', 'held', 'paused', 'slow', 'ok', 'idle']);
export type EndpointState = z.infer<typeof EndpointState>;

/** How often, and when, an endpoint gave one kind of answer. */
export const EndpointAnswer = z.strictObject({
  /** The HTTP status, such as `404`. Without a response, an `AttemptError` such as `dns`. */
  answer: z.string(),
  count: z.number().int(),
  firstAt: DateTime,
  lastAt: DateTime,
});

/** Returns the answer that the endpoint gave last, which tells its present fault. The list is in order of frequency. */
export const latestAnswer = (answers: readonly z.infer<typeof EndpointAnswer>[]) =>
  answers.toSorted((one, other) => (one.lastAt < other.lastAt ? 1 : -1))[0];

/** The health of an endpoint, from the attempts of at most 500 deliveries within a day. */
export const EndpointHealth = z.strictObject({
  keyId: z.string(),
  partnerId: z.string(),
  mode: Mode,
  state: EndpointState,
  /** The number of attempts that the figures are about, and the time of the first one. */
  attempts: z.number().int(),
  since: DateTime.nullable(),
  /** The share of these attempts that succeeded, from 0 to 1. Null without attempts. */
  successShare: z.number().nullable(),
  lastSuccessAt: DateTime.nullable(),
  /** The time of the first failure after the last success. */
  failingSince: DateTime.nullable(),
  p50Ms: z.number().nullable(),
  p95Ms: z.number().nullable(),
  /** The most frequent answers. */
  answers: z.array(EndpointAnswer),
  /** The last attempt if it failed, as far as the advice depends on it. Null if it succeeded. */
  lastFault: z
    .strictObject({
      at: DateTime,
      error: AttemptError,
      status: z.number().int().nullable(),
      /** What failed, where there was no HTTP response. */
      detail: z.string().nullable(),
      clockAheadMinutes: z.number().int().nullable(),
    })
    .nullable(),
  /** The number of deliveries that are due but not sent, up to 10,000. */
  queued: z.number().int(),
  inFlight: z.number().int(),
  /** Why the due deliveries are not sent. */
  cause: z.string().nullable(),
  pausedUntil: DateTime.nullable(),
});
export type EndpointHealth = z.infer<typeof EndpointHealth>;

export const ListedHealth = EndpointHealth.extend({ partnerName: z.string().nullable() });
export type ListedHealth = z.infer<typeof ListedHealth>;

/**
 * Selects one key, or the keys of a partner. Without either, selects keys with failed or overdue deliveries, and those whose
 * endpoints are slow or paused. The worst come first.
 */
export const ReadHealth = z.strictObject({
  keyId: reference('apiKey').optional(),
  partnerId: reference('partner').optional(),
  mode: Mode.optional(),
  limit: z.number().int().min(1).max(50).default(10),
});
export type ReadHealth = z.infer<typeof ReadHealth>;
