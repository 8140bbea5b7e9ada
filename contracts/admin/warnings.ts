import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { page, reference } from './references.ts';

/** What a partner is warned of. */
export const WarningKind = z.enum(['low_balance', 'endpoint_failing', 'secret_expiring', 'cap_reached']);
export type WarningKind = z.infer<typeof WarningKind>;

export const WarningView = z.strictObject({
  id: z.string(),
  kind: WarningKind,
  state: z.enum(['raised', 'over']),
  partnerId: z.string(),
  mode: Mode,
  /** The API key, client, integration, or the mode of the wallet. */
  about: z.string(),
  text: z.string(),
  since: DateTime,
  overAt: DateTime.nullable(),
  /** Whether e-mails and notices about its state have been sent, where there is anyone to send them to. */
  told: z.boolean(),
});
export type WarningView = z.infer<typeof WarningView>;

/** Those that were over within 30 days are kept. */
export const ListWarnings = z.strictObject({
  partnerId: reference('partner').optional(),
  state: z.enum(['raised', 'over']).optional(),
  ...page,
});
export type ListWarnings = z.infer<typeof ListWarnings>;

/** When a balance is low: less than so many cents, or used up within so many days. */
export const LowBalance = z.union([
  z.strictObject({ cents: z.number().int().min(1).max(100_000_000) }),
  z.strictObject({ days: z.number().min(0.1).max(365) }),
  z.literal('off'),
]);
export type LowBalance = z.infer<typeof LowBalance>;

export const mostAddresses = 10;

/** Fields left out stay as they are. `lowBalance` null goes back to the default. */
export const SetWarnings = z.strictObject({
  partnerId: reference('partner'),
  emails: z
    .array(z.email({ error: 'expected an e-mail address' }).max(254))
    .max(mostAddresses)
    .transform((all) => [...new Set(all)])
    .optional(),
  lowBalance: LowBalance.nullable().optional(),
});
export type SetWarnings = z.infer<typeof SetWarnings>;

/** How a partner is warned. */
export const WarningSettings = z.strictObject({
  partnerId: z.string(),
  emails: z.array(z.string()),
  /** Null for the default: used up within 7 days. */
  lowBalance: LowBalance.nullable(),
});
export type WarningSettings = z.infer<typeof WarningSettings>;
