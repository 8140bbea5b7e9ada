import { z } from 'zod';
import { ClaimsMap, type ClaimValue } from './claims.ts';

/** How many seconds `X-SVC-Timestamp` may be early or late (docs/choices.md). */
export const timestampSkewSeconds = 300;
/** The limit of requests per minute and integration. */
export const integrationRequestsPerMinute = 60;

/** The three headers of a signed call, in lower case as in Node (interface 4.6). */
export const SigningHeaders = z.object({
  'x-svc-integration-id': z.string().min(1).max(128).describe('The integration, int_…'),
  'x-svc-timestamp': z
    .string()
    .regex(/^\d{1,12}$/, { error: 'must be Unix seconds' })
    .describe('Unix seconds, at most 300 off'),
  'x-svc-signature': z
    .string()
    .regex(/^sha256=[0-9a-f]{64}$/, { error: 'must be sha256= and 64 lowercase hex digits' })
    .describe('HMAC-SHA256 of `{integration_id}.{timestamp}.{raw body}` under the integration secret'),
});
export type SigningHeaders = z.infer<typeof SigningHeaders>;

/** The body of a storefront exchange (interface 2.8). */
export const StorefrontRequest = z
  .object({
    code: z.string().min(1).max(256).describe('The verification code, svc_code_…'),
    redirect_uri: z.string().min(1).max(2048).describe('Byte for byte the one of the start'),
    shop_domain: z.string().min(1).max(253).describe('Host name of a shop of the integration'),
    customer_id: z.string().min(1).max(256).describe('Whom the shop knows the user as; kept as a hash'),
  })
  .meta({ id: 'StorefrontRequest' });
export type StorefrontRequest = z.infer<typeof StorefrontRequest>;

/** How the user was verified: age only, a document, or a document and a face. */
export const VerificationLevel = z.enum(['basic', 'document', 'biometric']);
export type VerificationLevel = z.infer<typeof VerificationLevel>;

/** The response of a storefront exchange (interface 2.9). */
export const StorefrontResponse = z
  .strictObject({
    verified: z.literal(true),
    claims: ClaimsMap,
    verification_level: VerificationLevel.describe('Age only, a document, or a document and a face'),
    enrollment_id: z.string(),
  })
  .meta({ id: 'StorefrontResponse' });
export type StorefrontResponse = z.infer<typeof StorefrontResponse>;

/** Returns the verification level for an assurance level from 1 to 3. Null counts as the lowest (docs/choices.md, "Claims"). */
export function verificationLevelOf(assuranceLevel: ClaimValue | undefined): VerificationLevel {
  if (assuranceLevel === 3) return 'biometric';
  return assuranceLevel === 2 ? 'document' : 'basic';
}
