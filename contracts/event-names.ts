/**
 * The events of interface section 6. The code does not compile unless schemas, samples, examples and the command line cover them
 * all. This file imports nothing, so that the command line starts without zod.
 */
export const eventNames = [
  'verification.session.completed',
  'verification.session.failed',
  'enrollment.created',
  'vae.resolved',
] as const;
export type EventName = (typeof eventNames)[number];

/** Notices to a partner's developers, for API keys that opt in. They are additions to the events of the contract. */
export const noticeNames = [
  'notice.low_balance',
  'notice.endpoint_failing',
  'notice.secret_expiring',
  'notice.cap_reached',
] as const;
export type NoticeName = (typeof noticeNames)[number];

/** The names of everything that is sent to a webhook URL. */
export const sentNames = [...eventNames, ...noticeNames] as const;
