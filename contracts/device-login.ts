import { z } from 'zod';
import { MemberRole } from './admin/members.ts';
import { DateTime, identifier } from './identifiers.ts';

/** The grant type of the device flow (RFC 8628 3.4). */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** The device authorization request (RFC 8628 3.1). `client_name` is the name of the machine, which the member sees. */
export const DeviceAuthorizationRequest = z.object({ client_name: z.string().max(64).optional() });

/** The response (RFC 8628 3.2). It has no `verification_uri_complete`, so that members type the code of their terminal. */
export const DeviceAuthorization = z.strictObject({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  /** How long both codes are valid, in seconds. */
  expires_in: z.int(),
  /** The least time between two polls, in seconds. */
  interval: z.int(),
});
export type DeviceAuthorization = z.infer<typeof DeviceAuthorization>;

/** The request with which the command line polls for its token (RFC 8628 3.4). */
export const DeviceTokenRequest = z.object({
  grant_type: z.string().min(1).max(128),
  device_code: z.string().min(1).max(256),
});

/** The token of a login. `scope` is the role of the member. */
export const DeviceToken = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** How long the token is valid, in seconds. */
  expires_in: z.int(),
  scope: MemberRole,
});
export type DeviceToken = z.infer<typeof DeviceToken>;

/** The login that an access token of `svc login` belongs to: the member, the machine, and the end of the login. */
export const DeviceLogin = z.strictObject({
  memberId: identifier('member'),
  email: z.string().nullable(),
  role: MemberRole,
  partnerId: identifier('partner'),
  partner: z.string(),
  environment: z.string(),
  /** The name of the machine. */
  name: z.string(),
  createdAt: DateTime,
  expiresAt: DateTime,
  /**
   * Until when this login may change secrets, addresses and members. Such a change needs a passkey that was asked for within 30
   * minutes. Null if that time is over.
   */
  changesUntil: DateTime.nullable(),
});
export type DeviceLogin = z.infer<typeof DeviceLogin>;
