import { z } from 'zod';
import { MemberRole } from './admin/members.ts';
import { DateTime, identifier } from './identifiers.ts';

/** RFC 8628 3.4. */
export const deviceGrantType = 'urn:ietf:params:oauth:grant-type:device_code';

/** RFC 8628 3.1. `client_name`: what the program calls its machine; its member reads it. */
export const DeviceAuthorizationRequest = z.object({ client_name: z.string().max(64).optional() });
export type DeviceAuthorizationRequest = z.infer<typeof DeviceAuthorizationRequest>;

/** RFC 8628 3.2. Without `verification_uri_complete`: the member types the code that their own terminal shows. */
export const DeviceAuthorization = z.strictObject({
  device_code: z.string(),
  user_code: z.string(),
  verification_uri: z.string(),
  /** Seconds. */
  expires_in: z.int(),
  /** Seconds between two polls. */
  interval: z.int(),
});
export type DeviceAuthorization = z.infer<typeof DeviceAuthorization>;

/** RFC 8628 3.4. */
export const DeviceTokenRequest = z.object({
  grant_type: z.string().min(1).max(128),
  device_code: z.string().min(1).max(256),
});

/** `scope`: the role of the member. */
export const DeviceToken = z.strictObject({
  access_token: z.string(),
  token_type: z.literal('Bearer'),
  /** Seconds. */
  expires_in: z.int(),
  scope: MemberRole,
});
export type DeviceToken = z.infer<typeof DeviceToken>;

/** Who is signed in by a token, and until when. */
export const DeviceLogin = z.strictObject({
  memberId: identifier('member'),
  email: z.string().nullable(),
  role: MemberRole,
  partnerId: identifier('partner'),
  partner: z.string(),
  environment: z.string(),
  /** What the program called its machine. */
  name: z.string(),
  createdAt: DateTime,
  expiresAt: DateTime,
  /** Until when secrets, addresses and members can be changed; null where that is over. */
  changesUntil: DateTime.nullable(),
});
export type DeviceLogin = z.infer<typeof DeviceLogin>;
