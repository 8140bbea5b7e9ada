import { z } from 'zod';
import { DateTime, Mode } from '../identifiers.ts';
import { page, reference } from './references.ts';

export const KeyStatus = z.enum(['active', 'revoked']);
export type KeyStatus = z.infer<typeof KeyStatus>;

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
  revokedAt: DateTime.nullable(),
});
export type KeyView = z.infer<typeof KeyView>;

/** The one answer that holds the key itself. */
export const KeyWithSecret = z.strictObject({ ...KeyView.shape, apiKey: z.string() });
export type KeyWithSecret = z.infer<typeof KeyWithSecret>;

export const KeyReference = z.strictObject({ keyId: reference('apiKey') });
export const CreateKey = z.strictObject({ partnerId: reference('partner'), mode: Mode.default('test') });
export type CreateKey = z.infer<typeof CreateKey>;
export const ListKeys = z.strictObject({
  partnerId: reference('partner').optional(),
  mode: Mode.optional(),
  status: KeyStatus.optional(),
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
  setAt: DateTime.nullable(),
  /** Events wait until then; null where they do not. */
  pausedUntil: DateTime.nullable(),
});
export type EndpointView = z.infer<typeof EndpointView>;

/** The one answer that holds the signing secret: `whsec_…`. */
export const EndpointWithSecret = z.strictObject({ ...EndpointView.shape, signingSecret: z.string() });
export type EndpointWithSecret = z.infer<typeof EndpointWithSecret>;

export const SetEndpoint = z.strictObject({ keyId: reference('apiKey'), url: z.string().min(1).max(2048) });

/** Events of the key wait until this time, at most 7 days. */
export const PauseEndpoint = z.strictObject({ keyId: reference('apiKey'), until: DateTime });
