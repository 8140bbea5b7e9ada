import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { boundedSeconds } from './bounded.ts';
import { page, reference } from './references.ts';

export const KeyStatus = z.enum(['active', 'revoked']);
export type KeyStatus = z.infer<typeof KeyStatus>;

/** An old secret that is still accepted. */
export const OldSecret = z.strictObject({
  last4: z.string(),
  /** The service refuses it from this time on. */
  expiresAt: DateTime,
  /** The last use, accurate to some minutes. Null if no use was recorded. */
  lastUsedAt: DateTime.nullable(),
});
export type OldSecret = z.infer<typeof OldSecret>;

const longestKeepSeconds = 30 * 86_400;
/** How long the old secrets are still accepted, in seconds. With 0, they are invalid now. */
export const keepOldSeconds = boundedSeconds(0, longestKeepSeconds).default(0);

/** An API key without its secret. `last4` tells keys apart. `webhookUrl` is null if no URL is set. */
export const KeyView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  mode: Mode,
  status: KeyStatus,
  last4: z.string().length(4),
  webhookUrl: z.string().nullable(),
  /** The last characters of the signing secret, and its creation time. Null if an older build made it, or without a URL. */
  webhookLast4: z.string().nullable(),
  webhookSecretAt: DateTime.nullable(),
  /** When the signing secret last signed, accurate to some minutes. Null if it has signed nothing yet. */
  webhookLastUsedAt: DateTime.nullable(),
  createdAt: DateTime,
  rotatedAt: DateTime.nullable(),
  /** The last use of the current secret, accurate to some minutes. Null if it was not used yet. */
  lastUsedAt: DateTime.nullable(),
  oldSecrets: z.array(OldSecret),
  revokedAt: DateTime.nullable(),
});
export type KeyView = z.infer<typeof KeyView>;
export const ListedKey = KeyView.extend({ partnerName: z.string().nullable() });

/** The only response that contains the secret of the key. */
export const KeyWithSecret = z.strictObject({ ...KeyView.shape, apiKey: z.string() });

export const KeyReference = z.strictObject({ keyId: reference('apiKey') });
export const RotateKey = z.strictObject({ keyId: reference('apiKey'), keepOldSeconds });
export type RotateKey = z.infer<typeof RotateKey>;
export const CreateKey = z.strictObject({ partnerId: reference('partner'), mode: Mode.default('test') });
export type CreateKey = z.infer<typeof CreateKey>;
export const ListKeys = z.strictObject({
  partnerId: reference('partner').optional(),
  mode: Mode.optional(),
  status: KeyStatus.optional(),
  /**
   * Only keys that were made before this time and were not used since: neither they nor their clients and integrations were
   * made, rotated or used, and they signed no event.
   */
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
  /** The last characters of the signing secret, and its creation time. Null if an older build made it. */
  last4: z.string().nullable(),
  rotatedAt: DateTime.nullable(),
  /** When the secret last signed an attempt, accurate to some minutes. Null if it has signed none. */
  lastUsedAt: DateTime.nullable(),
  /** The prepared signing secret, which signs nothing before the switch. Null if none is prepared. */
  prepared: z.strictObject({ last4: z.string(), preparedAt: DateTime }).nullable(),
  /** When the URL was set. */
  setAt: DateTime.nullable(),
  /** Whether the URL receives `notice.*` events besides the events of the contract. */
  notices: z.boolean(),
  /** The end of a pause, until which events wait. Null if there is no pause. */
  pausedUntil: DateTime.nullable(),
});
export type EndpointView = z.infer<typeof EndpointView>;

/** The only response that contains the signing secret, `whsec_…`. */
export const EndpointWithSecret = z.strictObject({ ...EndpointView.shape, signingSecret: z.string() });

/** Names the prepared secret by its last characters, so that the switch fails if another one was prepared since. */
export const SwitchSecret = z.strictObject({ keyId: reference('apiKey'), last4: z.string().length(4) });
export type SwitchSecret = z.infer<typeof SwitchSecret>;

export const SetEndpoint = z.strictObject({ keyId: reference('apiKey'), url: z.string().min(1).max(2048) });
export type SetEndpoint = z.infer<typeof SetEndpoint>;

export const SetNotices = z.strictObject({ keyId: reference('apiKey'), notices: z.boolean() });
export type SetNotices = z.infer<typeof SetNotices>;

/** Events of the key wait until this time, at most 7 days. */
export const PauseEndpoint = z.strictObject({ keyId: reference('apiKey'), until: DateTime });
