import { z } from 'zod';
import { SentEvent } from './events.ts';

/** The limit of requests per minute and API key, at each of the two endpoints. */
export const accountRequestsPerMinute = 60;

/**
 * The age from which an event is listed, in milliseconds. An event may be stored some seconds after its time. Without the delay, a
 * caller who has read later events would miss it.
 */
export const listedAfterMs = 30_000;

const limitFault = { error: 'limit must be a number from 1 to 200' };

/** The number that decimal digits stand for. `Number` alone would also read `1e2`, `0x10` and ` 5`. */
const fromDigits = (given: unknown): unknown =>
  typeof given === 'string' && /^\d{1,9}$/.test(given) ? Number(given) : given;

export const EventsQuery = z.object({
  after: z
    .string()
    .regex(/^evt_[0-9A-Za-z]{22}$/, { error: 'after must be an event_id' })
    .optional()
    .describe('`event_id` of the last event that you have; without it, from the oldest that is kept'),
  limit: z
    .preprocess(
      fromDigits,
      z.number(limitFault).int(limitFault).min(1, limitFault).max(200, limitFault).default(100),
    )
    .describe('Events of one answer'),
});
export type EventsQuery = z.infer<typeof EventsQuery>;

export const EventsResponse = z
  .strictObject({
    success: z.literal(true),
    events: z.array(SentEvent).describe('As they are sent by webhook, the oldest first'),
    hasMore: z.boolean().describe('Ask again, with `after` the last `event_id` here'),
  })
  .meta({ id: 'EventsResponse' });
export type EventsResponse = z.infer<typeof EventsResponse>;

const cents = z.number().int();

export const WalletResponse = z
  .strictObject({
    success: z.literal(true),
    wallet: z.strictObject({
      isTestMode: z.boolean(),
      balance: cents.describe('US cents'),
      currency: z.literal('USD'),
      spentPerDay: cents.describe('US cents, from about the last seven days'),
      daysLeft: z.number().nullable().describe('Until the balance is used up; null where nothing is spent'),
      limits: z.strictObject({
        perMinute: z.number().int().describe('Billable events'),
        perHour: z.number().int().describe('Billable events'),
        usedThisMinute: z.number().int(),
        usedThisHour: z.number().int(),
      }),
    }),
  })
  .meta({ id: 'WalletResponse' });
export type WalletResponse = z.infer<typeof WalletResponse>;
