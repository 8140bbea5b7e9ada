import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { boundedSeconds } from './bounded.ts';

/** A key of the service itself, in contrast to the API keys of partners. */
export const ServiceKeyView = z.strictObject({
  id: z.string(),
  use: z.enum(['signing', 'signing-rsa', 'code', 'id', 'pairwise', 'master']),
  /**
   * `pending`: published but not used yet. `missing`: a master key that the server does not have. `retired`: removed by the call that
   * returns this.
   */
  state: z.enum(['current', 'pending', 'old', 'missing', 'retired']),
  createdAt: DateTime.nullable(),
  /** When the use of the key begins. Null for a master key. */
  activeAt: DateTime.nullable(),
  /** When the key can be retired, because all tokens that it signed have expired. Null if it cannot be retired. */
  retirableAt: DateTime.nullable(),
  /** The name of the master key that encrypts this key. Null for a master key. */
  masterKey: z.string().nullable(),
  /** The number of values that this master key encrypts. Null for other keys. */
  values: z.number().int().nullable(),
});
export type ServiceKeyView = z.infer<typeof ServiceKeyView>;

export const RotatedUse = z.enum(['signing', 'signing-rsa', 'code']);
export type RotatedUse = z.infer<typeof RotatedUse>;

/** The default time until a new key is used, in seconds. By then, all caches of the JWKS have the key. */
export const defaultLeadSeconds: Readonly<Record<RotatedUse, number>> = {
  signing: 3_600,
  'signing-rsa': 3_600,
  code: 60,
};

const longestLeadSeconds = 7 * 86_400;

export const RotateServiceKey = z.strictObject({
  use: RotatedUse,
  /** The time until the new key is used, in seconds. By then, all processes and all caches of the published keys have it. */
  lead: boundedSeconds(60, longestLeadSeconds).optional(),
});

export const RetireKey = z.strictObject({
  /** The id of the key as lists show it, such as `signing-1`. */
  id: z.string().max(64),
  /** Whether to retire the key now, so that tokens that it has signed are refused from now on. */
  compromised: z.boolean().optional(),
});

/** A retired key. `replacedBy` is the new key, which is made if the retired key was in use or about to be used. */
export const RetiredKey = z.strictObject({ ...ServiceKeyView.shape, replacedBy: z.string().nullable() });

/** Reads stored secrets that an older master key encrypts, and encrypts them with the current one. `limit` values a call. */
export const Reseal = z.strictObject({ limit: z.number().int().min(1).max(500).default(200) });

export const Resealed = z.strictObject({
  /** The name of the current master key. */
  masterKey: z.string(),
  /** The number of values that this call encrypted again. */
  resealed: z.number().int(),
  /** The number of values that another master key still encrypts. */
  left: z.number().int(),
});
