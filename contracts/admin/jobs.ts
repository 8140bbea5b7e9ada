import { z } from 'zod';
import { SentName } from '../events.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { newTimeFields, withNewTime } from './deliveries.ts';
import { page, reference } from './references.ts';

/**
 * The state of a job. `scheduled`: it waits for its time. `late`: it is due, but no process has locked it. `locked`: a process
 * runs it. `stuck`: its lock is of a time so far from now that its process must have ended. `failed` and `done`: it has run.
 * `malformed`: it is not a job of this service. Fields that cannot be read are then null or empty, and `failReason` names the
 * first of them.
 */
export const JobState = z.enum(['scheduled', 'late', 'locked', 'stuck', 'failed', 'done', 'malformed']);
export type JobState = z.infer<typeof JobState>;

/** A job of the scheduler. It sends the attempts that are due in one second. */
export const JobView = z.strictObject({
  id: z.string(),
  name: z.string(),
  state: JobState,
  nextRunAt: DateTime.nullable(),
  lockedAt: DateTime.nullable(),
  /** The process that holds the lock: host, process id and a random name. Null if no process holds it. */
  lockedBy: z.string().nullable(),
  lastRunAt: DateTime.nullable(),
  failReason: z.string().nullable(),
  /** `key` is the second in which the attempts of this job are due, as an RFC 3339 time. */
  data: z.strictObject({ key: z.string() }),
  /** The number of attempts that wait for this job. */
  wakes: z.number().int(),
});
export type JobView = z.infer<typeof JobView>;

/** An attempt that waits for its time. */
const WaitingAttempt = z.strictObject({
  deliveryId: reference('delivery'),
  event: SentName,
  attempt: z.number().int(),
  keyId: z.string(),
  mode: Mode,
  nextAttemptAt: DateTime,
});

/** A job with the deliveries that it sends, at most 500. */
export const JobDetail = z.strictObject({
  ...JobView.shape,
  deliveryIds: z.array(z.string()),
  attempts: z.array(WaitingAttempt),
});
export type JobDetail = z.infer<typeof JobDetail>;

/** A job that was run, cancelled or moved. `wakes` is the number of affected attempts. At most 500 are listed. */
export const ChangedJob = z.strictObject({ ...JobView.shape, deliveryIds: z.array(z.string()) });
export type ChangedJob = z.infer<typeof ChangedJob>;

const jobId = z
  .string()
  .regex(/^[0-9a-f]{24}$/, { error: 'expected a job as `jobs list` names it: 24 hex characters' });
export const JobReference = z.strictObject({ jobId });
export const RescheduleJob = withNewTime(z.strictObject({ jobId, ...newTimeFields }));

export const ListJobs = z.strictObject({
  name: z.string().min(1).max(64).optional(),
  ...page,
  after: jobId.optional(),
});
export type ListJobs = z.infer<typeof ListJobs>;
