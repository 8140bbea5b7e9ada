import { z } from 'zod';
import { fastestRate, usualRate } from '../bulk-rate.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { EventName } from './deliveries.ts';
import { page, reference } from './references.ts';

/**
 * What a bulk job does to each delivery that its filter finds. `replay` sends each event of a key again, whatever became of
 * it; `cancel` and `reschedule` are for pending deliveries.
 */
export const BulkAction = z.enum(['resend', 'replay', 'cancel', 'reschedule']);
export type BulkAction = z.infer<typeof BulkAction>;

/** Which deliveries, or which events of a replay. */
export const BulkFilter = z.strictObject({
  partnerId: reference('partner').optional(),
  keyId: reference('apiKey').optional(),
  mode: Mode.optional(),
  event: EventName.optional(),
  /** For `resend` only. */
  status: z.enum(['failed', 'skipped', 'delivered']).optional(),
  since: DateTime.optional(),
  /** Not included; without it, the time of the call. */
  until: DateTime.optional(),
});
export type BulkFilter = z.infer<typeof BulkFilter>;

export const StartBulk = z
  .strictObject({
    action: BulkAction,
    filter: BulkFilter,
    /** Deliveries of one key in a second, of all its jobs together. */
    rate: z.number().int().min(1).max(fastestRate).default(usualRate),
    /** When the first attempt of a reschedule is due. */
    at: DateTime.optional(),
    /** Also where another job has sent events of the same time span again, which arrived before. */
    again: z.boolean().default(false),
    /** Counts, and starts nothing. */
    dryRun: z.boolean().default(false),
  })
  .refine(({ action, filter }) => action !== 'replay' || (filter.keyId && filter.since), {
    error: 'a replay needs keyId and since',
    path: ['filter'],
  })
  .refine(({ action, filter }) => action !== 'resend' || filter.since !== undefined, {
    error: 'needed to resend',
    path: ['filter', 'since'],
  })
  .refine(({ filter: { status }, action }) => action === 'resend' || status === undefined, {
    error: 'is for resend only',
    path: ['filter', 'status'],
  })
  .refine(({ action, at }) => (action === 'reschedule') === (at !== undefined), {
    error: 'is needed to reschedule, and for nothing else',
    path: ['at'],
  });
export type StartBulk = z.infer<typeof StartBulk>;

export const BulkStatus = z.enum(['running', 'done', 'cancelled']);

/** Why a job makes no progress with a key: as much of it as two seconds take is due and not sent. */
export const BulkWait = z.enum(['endpoint_behind']);

/** The part of a job that is about one API key. `leftOut`: what had arrived or ended by another way. */
export const BulkPart = z.strictObject({
  keyId: z.string(),
  partnerId: z.string(),
  mode: Mode,
  total: z.number().int(),
  done: z.number().int(),
  leftOut: z.number().int(),
  finished: z.boolean(),
  waits: BulkWait.nullable(),
});
export type BulkPart = z.infer<typeof BulkPart>;

export const BulkView = z.strictObject({
  id: z.string(),
  action: BulkAction,
  status: BulkStatus,
  /** The count at the start: an upper bound where it is not `exact`. */
  total: z.number().int(),
  exact: z.boolean(),
  done: z.number().int(),
  leftOut: z.number().int(),
  rate: z.number().int(),
  filter: BulkFilter,
  at: DateTime.nullable(),
  /** At the rate of the job, if nothing else holds it up; null once it has ended. */
  expectedEndAt: DateTime.nullable(),
  operatorId: z.string(),
  operatorName: z.string(),
  createdAt: DateTime,
  endedAt: DateTime.nullable(),
  keys: z.array(BulkPart),
});
export type BulkView = z.infer<typeof BulkView>;

/** What a call starts, or would start in a dry run. `repeated`: the same call had started this job, which still runs. */
export const StartedBulk = z.strictObject({
  dryRun: z.boolean(),
  repeated: z.boolean(),
  total: z.number().int(),
  exact: z.boolean(),
  live: z.number().int(),
  keys: z.number().int(),
  /** The filter with the time span as it is counted. */
  filter: BulkFilter,
  /** Null in a dry run, and where there is nothing to do. */
  job: BulkView.nullable(),
});
export type StartedBulk = z.infer<typeof StartedBulk>;

export const BulkReference = z.strictObject({ bulkId: reference('bulkJob') });
export const ListBulk = z.strictObject({ ...page, status: BulkStatus.optional() });
export type ListBulk = z.infer<typeof ListBulk>;
