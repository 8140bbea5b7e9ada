import { z } from 'zod';
import { waitReasons } from './wait-reasons.ts';

/** Where a delivery stands; it is in exactly one of these (interface 3.3, docs/choices.md). */
export const DeliveryStatus = z.enum(['pending', 'in_flight', 'delivered', 'failed', 'skipped']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/**
 * Why an attempt did not succeed. `http` is an answer outside 2xx, or one that is not HTTP; `interrupted` is an attempt
 * whose process ended before it could record the result.
 */
export const AttemptError = z.enum([
  'dns',
  'refused',
  'reset',
  'tls',
  'timeout',
  'blocked_address',
  'http',
  'interrupted',
]);
export type AttemptError = z.infer<typeof AttemptError>;

/**
 * What made an attempt due: the event, the retry schedule, the recovery from a process that ended, or an operator.
 * Operators resend, send tests, run jobs ahead of time, and reschedule.
 */
export const AttemptTrigger = z.enum([
  'event',
  'schedule',
  'recovery',
  'resend',
  'test',
  'run',
  'reschedule',
]);
export type AttemptTrigger = z.infer<typeof AttemptTrigger>;

/** Why a delivery is not sent (any more). */
export const SkipReason = z.enum([
  'no_url',
  'key_revoked',
  'partner_suspended',
  'localhost_not_allowed',
  'cancelled',
]);
export type SkipReason = z.infer<typeof SkipReason>;

/** Why an attempt that is due has not been sent yet. */
export const WaitReason = z.enum(Object.keys(waitReasons) as [keyof typeof waitReasons]);

/** Interface section 8: attempts in all, and milliseconds that one of them may take. */
export const attemptLimit = 3;
export const attemptTimeoutMs = 10_000;
