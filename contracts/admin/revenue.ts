import { z } from 'zod';
import { EntryKind } from '../charge.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { page, reference, searchResult } from './references.ts';

/** Adds up the charges and refunds of a period, wallet by wallet. `limit` is a number of wallets. */
export const ReadRevenue = z.strictObject({
  from: DateTime,
  to: DateTime.optional(),
  mode: Mode.optional(),
  partnerId: reference('partner').optional(),
  ...page,
  limit: z.number().int().min(1).max(100).default(50),
});
export type ReadRevenue = z.infer<typeof ReadRevenue>;

/** The revenue of one wallet in a month of UTC, by kind of entry. `id` is that of the wallet. */
export const RevenueRow = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  partnerName: z.string().nullable(),
  mode: Mode,
  /** Such as `2026-06`. */
  month: z.string(),
  /** A billable kind or `refund`. */
  kind: EntryKind,
  count: z.number().int(),
  /** In cents. Refunds are negative. */
  amount: z.number().int(),
});
export type RevenueRow = z.infer<typeof RevenueRow>;

export const Revenue = searchResult(RevenueRow);
