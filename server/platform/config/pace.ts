/** Milliseconds of what a process does by the machine's time. Tests go faster. */
export interface Pace {
  /** How long after its request something that costs money may begin. */
  beginWithin: number;
  /** How long after its request a 503 replaces a late answer. */
  answerWithin: number;
  /** Between two looks for jobs that are due. */
  jobsEvery: number;
  /** How long requests are collected before they are recorded in the database. */
  requestsEvery: number;
  /** How long uses of secrets are collected before they are recorded. */
  usesEvery: number;
}

/** How long a caller who pays waits. */
export type Deadline = Pick<Pace, 'beginWithin' | 'answerWithin'>;

/**
 * docs/limits-and-billing.md: where the database is away, a billable endpoint answers 503 within 5 s. A step that began in
 * time may take as long as the database does: its result is worth more than a 503.
 */
export const defaultPace: Pace = {
  beginWithin: 2_500,
  answerWithin: 4_500,
  jobsEvery: 1_000,
  requestsEvery: 1_000,
  usesEvery: 10_000,
};
