import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { boundedCents } from './bounded.ts';
import { Email } from './members.ts';
import { page, reference } from './references.ts';

export const WarningKind = z.enum(['low_balance', 'endpoint_failing', 'secret_expiring', 'cap_reached']);
export type WarningKind = z.infer<typeof WarningKind>;

export const WarningView = z.strictObject({
  id: z.string(),
  kind: WarningKind,
  state: z.enum(['raised', 'over']),
  partnerId: z.string(),
  mode: Mode,
  /** The subject: the id of an API key, client or integration, or the mode of the wallet. */
  about: z.string(),
  text: z.string(),
  since: DateTime,
  overAt: DateTime.nullable(),
  /** Whether e-mails and notices about the present state have been sent to all recipients. */
  told: z.boolean(),
});
export type WarningView = z.infer<typeof WarningView>;

export const ListedWarning = WarningView.extend({ partnerName: z.string().nullable() });

/** Lists warnings. A warning is kept for 30 days after it is over. */
export const ListWarnings = z.strictObject({
  partnerId: reference('partner').optional(),
  state: z.enum(['raised', 'over']).optional(),
  ...page,
});
export type ListWarnings = z.infer<typeof ListWarnings>;

/** The threshold of a low balance: a number of cents, or a number of days until it is used up. `off`: no warning is sent. */
export const LowBalance = z.union([
  z.strictObject({ cents: boundedCents(1, 100_000_000) }),
  z.strictObject({ days: z.number().min(0.1).max(365) }),
  z.literal('off'),
]);
export type LowBalance = z.infer<typeof LowBalance>;

export const mostAddresses = 10;

/** Changes the settings. A field that is left out stays as it is. `lowBalance: null` sets the default. */
export const SetWarnings = z.strictObject({
  partnerId: reference('partner'),
  emails: z
    .array(Email)
    .max(mostAddresses)
    .transform((all) => [...new Set(all)])
    .optional(),
  lowBalance: LowBalance.nullable().optional(),
});
export type SetWarnings = z.infer<typeof SetWarnings>;

export const WarningSettings = z.strictObject({
  partnerId: z.string(),
  emails: z.array(z.string()),
  /** The threshold of a low balance. Null for the default: used up within 7 days. */
  lowBalance: LowBalance.nullable(),
});
export type WarningSettings = z.infer<typeof WarningSettings>;
