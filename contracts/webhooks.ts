import { z } from 'zod';
import { skipReasons, waitReasons } from './delivery-reasons.ts';

/** The status of a delivery (interface 3.3, docs/choices.md). */
export const DeliveryStatus = z.enum(['pending', 'in_flight', 'delivered', 'failed', 'skipped']);
export type DeliveryStatus = z.infer<typeof DeliveryStatus>;

/**
 * Why an attempt did not succeed. `http`: the response was not 2xx, or was not HTTP. `interrupted`: the process ended before it
 * could record the result.
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
 * The cause of an attempt: the event, the retry schedule, the recovery after a process ended, or an operator. Operators can
 * resend, send tests, run jobs early, and reschedule.
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

/** Why a delivery is not sent, or is no longer sent. */
export const SkipReason = z.enum(Object.keys(skipReasons) as [keyof typeof skipReasons]);
export type SkipReason = z.infer<typeof SkipReason>;

/** Why a due attempt has not been sent yet. */
export const WaitReason = z.enum(Object.keys(waitReasons) as [keyof typeof waitReasons]);
export type WaitReason = z.infer<typeof WaitReason>;

/** The number of attempts of a delivery (interface section 8). */
export const attemptLimit = 3;
/** How long one attempt may take (interface section 8). */
export const attemptTimeoutMs = 10_000;
