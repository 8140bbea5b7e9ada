import { z } from 'zod';
import { DateTime } from '../identifiers.ts';

export const KeyView = z.strictObject({
  id: z.string(),
  use: z.enum(['signing', 'code', 'id', 'pairwise', 'master']),
  /** `pending`: published, and not used yet. `missing`: a master key that the server does not have. `retired`: just taken out. */
  state: z.enum(['current', 'pending', 'old', 'missing', 'retired']),
  createdAt: DateTime.nullable(),
  /** When its use begins; null for a master key. */
  activeAt: DateTime.nullable(),
  /** When it can be retired, because all tokens that it signed have expired; null for a key that cannot be. */
  retirableAt: DateTime.nullable(),
  /** Name of the master key that it is sealed under; null for a master key. */
  masterKey: z.string().nullable(),
  /** How many values are sealed under it; null for a key that seals none. */
  values: z.number().int().nullable(),
});
export type KeyView = z.infer<typeof KeyView>;

export const RotatedUse = z.enum(['signing', 'code']);
export type RotatedUse = z.infer<typeof RotatedUse>;

/** Seconds until a new key is used where the operator names none: caches of the JWKS have it by then. */
export const defaultLeadSeconds: Readonly<Record<RotatedUse, number>> = { signing: 3_600, code: 60 };

export const RotateKey = z.strictObject({
  use: RotatedUse,
  /** Seconds until the new key is used: every process, and every cache of the published keys, has it by then. */
  lead: z
    .number()
    .int()
    .min(60)
    .max(7 * 86_400)
    .optional(),
});
export type RotateKey = z.infer<typeof RotateKey>;

export const RetireKey = z.strictObject({
  /** As the list shows it, such as `signing-1`. */
  id: z.string().max(64),
  /** At once, whatever it has signed: its tokens are refused from now on. */
  compromised: z.boolean().optional(),
});

/** `replacedBy` is the key that was made in its place: where it signed, or was going to. */
export const RetiredKey = z.strictObject({ ...KeyView.shape, replacedBy: z.string().nullable() });
export type RetiredKey = z.infer<typeof RetiredKey>;

export const Reseal = z.strictObject({ limit: z.number().int().min(1).max(500).default(200) });

export const Resealed = z.strictObject({
  /** Name of the master key that everything is to be sealed under. */
  masterKey: z.string(),
  resealed: z.number().int(),
  /** Values that are still sealed under another master key. */
  left: z.number().int(),
});
export type Resealed = z.infer<typeof Resealed>;
