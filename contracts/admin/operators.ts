import { z } from 'zod';
import { DisplayName } from '../display-text.ts';
import { DateTime } from '../identifiers.ts';
import { boundedSeconds } from './bounded.ts';
import { page, reference } from './references.ts';

export const OperatorRole = z.enum(['support', 'ops', 'owner']);
export type OperatorRole = z.infer<typeof OperatorRole>;
/** The status of an operator. `expired`: the token was not revoked, and has expired. */
export const OperatorStatus = z.enum(['active', 'expired', 'revoked']);
export type OperatorStatus = z.infer<typeof OperatorStatus>;

export const OperatorView = z.strictObject({
  id: z.string(),
  name: z.string(),
  role: OperatorRole,
  status: OperatorStatus,
  /** The last characters of the token. Null if an older build made the token. */
  last4: z.string().nullable(),
  /** The last use, accurate to the minute. Null if the token was never used. */
  lastUsedAt: DateTime.nullable(),
  /** When the token expires. Null if it does not expire. */
  expiresAt: DateTime.nullable(),
  createdAt: DateTime,
});
export type OperatorView = z.infer<typeof OperatorView>;

/** The only response that contains the token. */
export const OperatorWithToken = z.strictObject({ ...OperatorView.shape, token: z.string() });

/** The operator who calls. `expiresAt` is the expiry of the token; null if it does not expire. */
export const Identity = OperatorView.pick({ id: true, name: true, role: true, expiresAt: true });
export type Identity = z.infer<typeof Identity>;

const longestExpirySeconds = 400 * 86_400;

export const CreateOperator = z.strictObject({
  name: DisplayName,
  role: OperatorRole,
  /** How long the token is valid, in seconds. Without it, the token is valid until it is revoked. */
  expiresIn: boundedSeconds(60, longestExpirySeconds).optional(),
});
export const OperatorReference = z.strictObject({ operatorId: reference('operator') });
export const ListOperators = z.strictObject({ status: OperatorStatus.optional(), ...page });

/**
 * A permission. `test`: in test mode only. `own`: only the entries of the audit log that the operator caused, and those of changes of
 * partners' records.
 */
export const Permission = z.enum(['yes', 'no', 'test', 'own', 'reason']);
export type Permission = z.infer<typeof Permission>;

/** What each role may do with one procedure of the admin API. */
export const PermissionView = z.strictObject({
  procedure: z.string(),
  support: Permission,
  ops: Permission,
  owner: Permission,
});
export type PermissionView = z.infer<typeof PermissionView>;
