import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { page, reference } from './references.ts';

export const KeyStatus = z.enum(['active', 'revoked']);
export type KeyStatus = z.infer<typeof KeyStatus>;

/** A secret before the present one, while it is still accepted. */
export const OldSecret = z.strictObject({
  last4: z.string(),
  /** The service refuses it from this time on. */
  expiresAt: DateTime,
  /** To some minutes; null where it was not used since it is noted. */
  lastUsedAt: DateTime.nullable(),
});
export type OldSecret = z.infer<typeof OldSecret>;

/** How long the secrets before this one are still accepted; 0 ends them at once. */
export const keepOldSeconds = z
  .number()
  .int()
  .min(0)
  .max(30 * 86_400)
  .default(0);

/** An API key without its secret; `last4` tells keys apart. `webhookUrl` is null where none is set. */
export const KeyView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  mode: Mode,
  status: KeyStatus,
  last4: z.string().length(4),
  webhookUrl: z.string().nullable(),
  createdAt: DateTime,
  rotatedAt: DateTime.nullable(),
  /** Of the present secret, to some minutes; null where it was not used yet. */
  lastUsedAt: DateTime.nullable(),
  oldSecrets: z.array(OldSecret),
  revokedAt: DateTime.nullable(),
});
export type KeyView = z.infer<typeof KeyView>;
export const ListedKey = KeyView.extend({ partnerName: z.string().nullable() });

/** The one answer that holds the key itself. */
export const KeyWithSecret = z.strictObject({ ...KeyView.shape, apiKey: z.string() });
export type KeyWithSecret = z.infer<typeof KeyWithSecret>;

export const KeyReference = z.strictObject({ keyId: reference('apiKey') });
export const RotateKey = z.strictObject({ keyId: reference('apiKey'), keepOldSeconds });
export type RotateKey = z.infer<typeof RotateKey>;
export const CreateKey = z.strictObject({ partnerId: reference('partner'), mode: Mode.default('test') });
export type CreateKey = z.infer<typeof CreateKey>;
export const ListKeys = z.strictObject({
  partnerId: reference('partner').optional(),
  mode: Mode.optional(),
  status: KeyStatus.optional(),
  /** Only keys that were made before this time, and whose secrets were not used since. */
  unusedSince: DateTime.optional(),
  ...page,
});
export type ListKeys = z.infer<typeof ListKeys>;

/** The endpoint that gets the events of a key's sessions. */
export const EndpointView = z.strictObject({
  keyId: z.string(),
  mode: Mode,
  url: z.string().nullable(),
  secretVersion: z.number().int(),
  /** The last characters of the signing secret and the time of its making; null for secrets of older builds. */
  last4: z.string().nullable(),
  rotatedAt: DateTime.nullable(),
  /** When it last signed an attempt, to some minutes; null where it has signed none. */
  lastUsedAt: DateTime.nullable(),
  /** The next signing secret, which signs nothing until it is switched to; null where none is prepared. */
  prepared: z.strictObject({ last4: z.string(), preparedAt: DateTime }).nullable(),
  setAt: DateTime.nullable(),
  /** Whether it gets `notice.*` events beside those of the contract. */
  notices: z.boolean(),
  /** Events wait until then; null where they do not. */
  pausedUntil: DateTime.nullable(),
});
export type EndpointView = z.infer<typeof EndpointView>;

/** The one answer that holds the signing secret: `whsec_…`. */
export const EndpointWithSecret = z.strictObject({ ...EndpointView.shape, signingSecret: z.string() });
export type EndpointWithSecret = z.infer<typeof EndpointWithSecret>;

/** The last characters of the prepared secret: another one that was prepared since is not switched to. */
export const SwitchSecret = z.strictObject({ keyId: reference('apiKey'), last4: z.string().length(4) });
export type SwitchSecret = z.infer<typeof SwitchSecret>;

export const SetEndpoint = z.strictObject({ keyId: reference('apiKey'), url: z.string().min(1).max(2048) });

export const SetNotices = z.strictObject({ keyId: reference('apiKey'), notices: z.boolean() });
export type SetNotices = z.infer<typeof SetNotices>;

/** Events of the key wait until this time, at most 7 days. */
export const PauseEndpoint = z.strictObject({ keyId: reference('apiKey'), until: DateTime });
