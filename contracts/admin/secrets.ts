import { z } from 'zod';
import { DateTime, Mode, type SecretKind, secretPrefixes } from '../identifiers.ts';

/**
 * The kinds of secrets whose owner an operator can find, for example after a leak: all of the product but authorization codes, which
 * expire within minutes and are not found by their hash.
 */
export const OwnedSecretKind = z
  .enum(Object.keys(secretPrefixes) as [SecretKind, ...SecretKind[]])
  .exclude(['code']);
export type OwnedSecretKind = z.infer<typeof OwnedSecretKind>;

/** Finds a secret by its hash, because a secret is never sent. `hash` is the SHA-256 of the whole secret, in base64url. */
export const FindSecret = z.strictObject({
  kind: OwnedSecretKind,
  hash: z.string().regex(/^[\w-]{43}$/, { error: 'expected a SHA-256 in base64url' }),
});
export type FindSecret = z.infer<typeof FindSecret>;

/** The owner of a secret. `id` is the id of the API key, client, integration, operator or member. */
export const SecretOwner = z.strictObject({
  kind: OwnedSecretKind,
  id: z.string(),
  partnerId: z.string().nullable(),
  partnerName: z.string().nullable(),
  mode: Mode.nullable(),
  /** Whether the secret is accepted now. */
  active: z.boolean(),
  /** Why the secret is not accepted. */
  inactive: z.string().nullable(),
  /** When the secret expires. Null if no time is set. */
  expiresAt: DateTime.nullable(),
  /** The command that ends the secret. Null if the secret can never work again. */
  next: z.string().nullable(),
});
export type SecretOwner = z.infer<typeof SecretOwner>;
