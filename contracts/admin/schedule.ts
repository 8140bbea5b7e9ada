import { z } from 'zod';
import { SentName } from '../events.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { AttemptTrigger } from '../webhooks.ts';
import { eventFilter } from './deliveries.ts';

/** What the rows of a schedule are counted by. `why` is what made the attempts due. */
export const ScheduleColumn = z.enum(['minute', 'hour', 'partner', 'key', 'mode', 'event', 'why', 'attempt']);
export type ScheduleColumn = z.infer<typeof ScheduleColumn>;

/** Selects attempts by what they are for, and by the time when they are due: `since` is included, `until` is not. */
export const ReadSchedule = z.strictObject({
  ...eventFilter,
  by: z.array(ScheduleColumn).min(1).max(8).default(['minute', 'partner']),
  limit: z.number().int().min(1).max(500).default(50),
});
export type ReadSchedule = z.infer<typeof ReadSchedule>;

/** Attempts with the same values in the columns of `by`. The fields of other columns are null. */
export const ScheduleRow = z.strictObject({
  /** The start of the minute or hour in which they are due. */
  dueAt: DateTime.nullable(),
  partnerId: z.string().nullable(),
  partnerName: z.string().nullable(),
  keyId: z.string().nullable(),
  mode: Mode.nullable(),
  event: SentName.nullable(),
  why: AttemptTrigger.nullable(),
  /** The number of the attempt in the schedule, from 1. */
  attempt: z.number().int().nullable(),
  count: z.number().int(),
  /** When the first and the last of them are due. */
  firstAt: DateTime,
  lastAt: DateTime,
});
export type ScheduleRow = z.infer<typeof ScheduleRow>;

/** What is due when. `total` counts all attempts that the filter selects; it is not exact if they are more than were read. */
export const ScheduleView = z.strictObject({
  total: z.number().int(),
  exact: z.boolean(),
  /** Those of them that are due already. */
  late: z.number().int(),
  /** Those of them that wait for the end of a pause of their key, whatever time they are due. */
  paused: z.number().int(),
  rows: z.array(ScheduleRow),
});
export type ScheduleView = z.infer<typeof ScheduleView>;
