/** Intervals and time limits of a process, in milliseconds. Tests use shorter ones. */
export interface Pace {
  /** How long after the request arrived a step that costs money may still begin. */
  beginWithin: number;
  /** How long after the request arrived a 503 is sent in place of a late response. */
  answerWithin: number;
  /** How long ledger pages are sent again whose insert had no known result. */
  resendWithin: number;
  /** How long a successful test write shows that the database accepts writes. */
  writesTestedEvery: number;
  /** How often the process looks for due jobs. */
  jobsEvery: number;
  /** How long requests are collected before they are recorded in the database. */
  requestsEvery: number;
  /** How long uses of secrets are collected before they are recorded. */
  usesEvery: number;
}

/** Time limits of billable requests. */
export type Deadline = Pick<Pace, 'beginWithin' | 'answerWithin'>;

/**
 * Without a database, a billable endpoint answers 503 within 5 s (docs/limits-and-billing.md). A step that began in time
 * is not cut short, because its result is worth more to the caller than a 503.
 */
export const defaultPace: Pace = {
  beginWithin: 2_500,
  answerWithin: 4_500,
  resendWithin: 1_500,
  writesTestedEvery: 5_000,
  jobsEvery: 1_000,
  requestsEvery: 1_000,
  usesEvery: 10_000,
};
