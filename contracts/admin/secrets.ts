import { z } from 'zod';
import { DateTime, Mode, type SecretKind, secretPrefixes } from '../identifiers.ts';

/**
 * Kinds of secrets that have an owner. A code belongs to a session, works once, and expires within minutes; those of
 * members end with the member.
 */
export const OwnedSecretKind = z
  .enum(Object.keys(secretPrefixes) as [SecretKind, ...SecretKind[]])
  .exclude(['code', 'invitation', 'memberSession', 'deviceCode', 'deviceToken']);
export type OwnedSecretKind = z.infer<typeof OwnedSecretKind>;

/** A secret is never sent. `hash` is its SHA-256 in base64url, of the whole secret with its prefix. */
export const FindSecret = z.strictObject({
  kind: OwnedSecretKind,
  hash: z.string().regex(/^[\w-]{43}$/, { error: 'expected a SHA-256 in base64url' }),
});
export type FindSecret = z.infer<typeof FindSecret>;

/** What a secret belongs to. `id` is the API key, client, integration or operator that has it. */
export const SecretOwner = z.strictObject({
  kind: OwnedSecretKind,
  id: z.string(),
  partnerId: z.string().nullable(),
  partnerName: z.string().nullable(),
  mode: Mode.nullable(),
  /** Whether something can be done with the secret now. */
  active: z.boolean(),
  /** Why not. */
  inactive: z.string().nullable(),
  /** When it stops working; null where no time is set. */
  expiresAt: DateTime.nullable(),
  /** The command that ends the secret; null where it cannot work again. */
  next: z.string().nullable(),
});
export type SecretOwner = z.infer<typeof SecretOwner>;
