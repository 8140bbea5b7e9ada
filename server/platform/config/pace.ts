/**
 * Intervals and time limits of a process, in milliseconds. Tests use shorter ones.
 * Without a database, a billable endpoint answers 503 within 5 s (docs/limits-and-billing.md). A step that began in time
 * is not cut short, because its result is worth more to the caller than a 503.
 */
export const defaultPace = {
  /** How long after the request arrived a step that costs money may still begin. */
  beginWithin: 2_500,
  /** How long after the request arrived a 503 is sent in place of a late response. */
  answerWithin: 4_500,
  /** How long ledger pages are sent again whose insert had no known result. */
  resendWithin: 1_500,
  /** How long a successful test write shows that the database accepts writes. */
  writesTestedEvery: 5_000,
  /** How often the process looks for due jobs. */
  jobsEvery: 1_000,
  /** How long requests are collected before they are recorded in the database. */
  requestsEvery: 1_000,
  /** How long uses of secrets are collected before they are recorded. */
  usesEvery: 10_000,
};
export type Pace = typeof defaultPace;

/** Time limits of billable requests. */
export type Deadline = Pick<Pace, 'beginWithin' | 'answerWithin'>;
