/**
 * The events of interface section 6. Schemas, samples, examples and the command line are complete for this list, or do not
 * compile. Imports nothing: the command line starts without zod.
 */
export const eventNames = [
  'verification.session.completed',
  'verification.session.failed',
  'enrollment.created',
  'vae.resolved',
] as const;
export type EventName = (typeof eventNames)[number];
