import { z } from 'zod';
import { fastestRate, usualRate } from '../bulk-rate.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { boundedSeconds } from './bounded.ts';
import { eventFilter, newTimeFields, otherUrl } from './deliveries.ts';
import { page, reference } from './references.ts';

/**
 * The action of a bulk job on each delivery that its filter finds. `replay` sends each event of a key again, whatever the status
 * of its deliveries is. `cancel` and `reschedule` are for pending deliveries.
 */
export const BulkAction = z.enum(['resend', 'replay', 'cancel', 'reschedule']);
export type BulkAction = z.infer<typeof BulkAction>;

/** The filter for deliveries, or for the events of a replay. Without `until`, the period ends at the time of the call. */
export const BulkFilter = z.strictObject({
  ...eventFilter,
  /** Allowed only for `resend`. */
  status: z.enum(['failed', 'skipped', 'delivered']).optional(),
});
export type BulkFilter = z.infer<typeof BulkFilter>;

/** Ten years in seconds. Events are kept for 30 days, so a longer period would find no more. */
const longestBack = 3_650 * 86_400;
const secondsBack = boundedSeconds(0, longestBack).optional();

export const StartBulk = z
  .strictObject({
    action: BulkAction,
    filter: BulkFilter,
    /** The most deliveries per second and key, over all jobs of the key. */
    rate: z.number().int().min(1).max(fastestRate).default(usualRate),
    /** When the first attempt of a reschedule is due: a time, or seconds from the start of the job. */
    ...newTimeFields,
    /** Allowed only for `resend` and `replay` with one key. */
    to: otherUrl,
    /**
     * How many seconds before the call the ends of the period are, where the caller gave them so. They identify a repeated call,
     * whose times are later.
     */
    secondsBack: z.strictObject({ since: secondsBack, until: secondsBack }).optional(),
    /** Whether to send events that an earlier job for the same period has already sent again. */
    again: z.boolean().default(false),
    /** Whether to count only, without starting a job. */
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
  .refine(({ action, to }) => to === undefined || action === 'resend' || action === 'replay', {
    error: 'is to resend or replay only',
    path: ['to'],
  })
  .refine(({ filter: { keyId }, to }) => to === undefined || keyId !== undefined, {
    error: 'another URL needs keyId',
    path: ['filter'],
  })
  .refine(
    ({ action, at, inSeconds }) =>
      Number(at !== undefined) + Number(inSeconds !== undefined) === Number(action === 'reschedule'),
    { error: 'is needed to reschedule, if inSeconds is not given, and for nothing else', path: ['at'] },
  );
export type StartBulk = z.infer<typeof StartBulk>;

export const BulkStatus = z.enum(['running', 'done', 'cancelled']);

/** Why a job waits with a key. `endpoint_behind`: the key has as many unsent deliveries as the job creates in two seconds. */
export const BulkWait = z.enum(['endpoint_behind']);

/** The part of a job for one API key. `leftOut` counts those of `total` that had arrived or ended before the job reached them. */
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
  /** The number of deliveries or events that the job is for. It is an upper bound if it is not `exact`. */
  total: z.number().int(),
  exact: z.boolean(),
  done: z.number().int(),
  leftOut: z.number().int(),
  /** Deliveries per second and key. */
  rate: z.number().int(),
  filter: BulkFilter,
  /** When the first attempt is due. Null unless the action is `reschedule`. */
  at: DateTime.nullable(),
  /** The URL that the events go to instead of the webhook URL of the key. */
  to: z.string().nullable(),
  /** The expected end at the rate of the job, without other delays. Null once the job has ended. */
  expectedEndAt: DateTime.nullable(),
  operatorId: z.string(),
  operatorName: z.string(),
  createdAt: DateTime,
  endedAt: DateTime.nullable(),
  keys: z.array(BulkPart),
});
export type BulkView = z.infer<typeof BulkView>;

export const BulkDetail = BulkView.extend({
  keys: z.array(BulkPart.extend({ partnerName: z.string().nullable() })),
});

/** The job that a call starts, or would start in a dry run. `repeated`: an equal call has started the job, which still runs. */
export const StartedBulk = z.strictObject({
  dryRun: z.boolean(),
  repeated: z.boolean(),
  /** As in `BulkView`. */
  total: z.number().int(),
  exact: z.boolean(),
  /** How many of `total` are in live mode. */
  live: z.number().int(),
  /** The number of API keys that the job is about. */
  keys: z.number().int(),
  /** The filter with the period that was counted. */
  filter: BulkFilter,
  /** The started job. Null in a dry run, and if there is nothing to do. */
  job: BulkView.nullable(),
});
export type StartedBulk = z.infer<typeof StartedBulk>;

export const BulkReference = z.strictObject({ bulkId: reference('bulkJob') });
export const ListBulk = z.strictObject({ ...page, status: BulkStatus.optional() });
export type ListBulk = z.infer<typeof ListBulk>;
