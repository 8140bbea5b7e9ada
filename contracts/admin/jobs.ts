import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { EventName, RescheduleTime } from './deliveries.ts';
import { page, reference } from './references.ts';

/**
 * `scheduled`: waits for its time. `late`: due, and no process has locked it. `locked`: a process runs it.
 * `stuck`: locked for so long that its process must have died. `failed` and `done`: it has run.
 * `malformed`: no job of this service is like it. Fields that cannot be read are null or empty, and `failReason` names the
 * first one.
 */
export const JobState = z.enum(['scheduled', 'late', 'locked', 'stuck', 'failed', 'done', 'malformed']);
export type JobState = z.infer<typeof JobState>;

/** A job of the scheduler. `wakes`: how many attempts wait for it. */
export const JobView = z.strictObject({
  id: z.string(),
  name: z.string(),
  state: JobState,
  nextRunAt: DateTime.nullable(),
  lockedAt: DateTime.nullable(),
  /** The process that holds the lock: host, process id, and a name of its own. Null where no process does. */
  lockedBy: z.string().nullable(),
  lastRunAt: DateTime.nullable(),
  failReason: z.string().nullable(),
  /** The due second that it is for. */
  data: z.strictObject({ key: z.string() }),
  wakes: z.number().int(),
});
export type JobView = z.infer<typeof JobView>;

/** An attempt that waits for its time. */
const WaitingAttempt = z.strictObject({
  deliveryId: reference('delivery'),
  event: EventName,
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

/** A job that was run, cancelled or moved. `wakes`: how many attempts that was done to; 500 are named at most. */
export const ChangedJob = z.strictObject({ ...JobView.shape, deliveryIds: z.array(z.string()) });
export type ChangedJob = z.infer<typeof ChangedJob>;

const id = z
  .string()
  .regex(/^[0-9a-f]{24}$/, { error: 'expected a job as `jobs list` names it: 24 hex characters' });
export const JobReference = z.strictObject({ jobId: id });
export const RescheduleJob = z
  .strictObject({ jobId: id, ...RescheduleTime.fields })
  .refine(RescheduleTime.isOne, { error: RescheduleTime.fault });

export const ListJobs = z.strictObject({
  name: z.string().min(1).max(64).optional(),
  ...page,
  after: id.optional(),
});
export type ListJobs = z.infer<typeof ListJobs>;
