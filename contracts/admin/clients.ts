import { z } from 'zod';
import { brandText } from '../brand-text.ts';
import { ClaimName, claimNames } from '../claims.ts';
import { DisplayName } from '../display-text.ts';
import { DateTime, Mode } from '../identifiers.ts';
import { IdTokenAlg } from '../openid.ts';
import { sourceNamePattern } from '../source-name.ts';
import { WebAddress } from '../web-address.ts';
import { boundedSeconds } from './bounded.ts';
import { BrandRequest } from './brands.ts';
import { keepOldSeconds } from './keys.ts';
import { OperatorReason, page, reference } from './references.ts';

/** `oauth` clients exchange at the token endpoint, `storefront` clients through their integration. */
export const ClientKind = z.enum(['oauth', 'storefront']);
export type ClientKind = z.infer<typeof ClientKind>;
export const ClientStatus = z.enum(['active', 'disabled']);
export type ClientStatus = z.infer<typeof ClientStatus>;

/** A client without its secrets. A limit of null is the default of the interface (30 and 120 a minute). */
export const ClientView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  keyId: z.string(),
  mode: Mode,
  kind: ClientKind,
  name: z.string(),
  status: ClientStatus,
  redirectUris: z.array(z.string()),
  claims: z.array(ClaimName),
  /** The first of `sources`; null for the default. Version 1.0 will not have this field. */
  source: z.string().nullable(),
  /** Verification sources that users may choose from, in order; empty for the default. */
  sources: z.array(z.string()),
  /** The name that the hosted pages show. Null for the partner's name. */
  brandName: z.string().nullable(),
  /** The accent color of the hosted pages, `#rrggbb`. The pages make it lighter or darker if text could not be read. */
  brandColor: z.string().nullable(),
  /** The purpose of the answers, in the partner's words. If it is null, the hosted pages show a text that depends on the claims. */
  purpose: z.string().nullable(),
  /** A member's change of the live brand that waits for an operator, or was refused. */
  brandRequest: BrandRequest.nullable(),
  /** The address of the partner's privacy notice. The hosted pages link to it besides our notice. */
  privacyUrl: z.string().nullable(),
  /** Whether users of the client may save a passkey and return with it, if passkeys are on in this installation. */
  passkeys: z.boolean(),
  /** The client's limit for the age of claims, in seconds. Older claims are verified again. Null for no such limit. */
  maxVerificationAgeSeconds: z.number().int().nullable(),
  /** Whether the client may ask for an ID token by the scope `openid`. */
  openid: z.boolean(),
  /** The claims that a start with `openid` asks for if its scope has none. */
  defaultClaims: z.array(ClaimName),
  idTokenAlg: IdTokenAlg,
  tokenRequestsPerMinute: z.number().int().nullable(),
  userinfoRequestsPerMinute: z.number().int().nullable(),
  /** The secrets that are still accepted. `expiresAt` is null for the current secret. */
  secrets: z.array(
    z.strictObject({
      /** The last characters, and the creation time. Null if an older build made the secret. */
      last4: z.string().nullable(),
      createdAt: DateTime.nullable(),
      /** The last use, accurate to some minutes. Null if no use was recorded. */
      lastUsedAt: DateTime.nullable(),
      expiresAt: DateTime.nullable(),
    }),
  ),
  createdAt: DateTime,
});
export type ClientView = z.infer<typeof ClientView>;
export const ListedClient = ClientView.extend({ partnerName: z.string().nullable() });

/** The only response that contains the client secret. */
export const ClientWithSecret = z.strictObject({ ...ClientView.shape, clientSecret: z.string() });

const claims = z
  .array(
    z.enum(ClaimName.options, {
      // An object may have a `toString` that is no function, so only a text is repeated.
      error: ({ input }) =>
        `unknown claim ${typeof input === 'string' ? input : ''}; known: ${claimNames.join(' ')}`,
    }),
  )
  .min(1, { error: 'at least one claim' })
  .max(32)
  .transform((names) => [...new Set(names)]);
export const mostRedirectUris = 20;
const redirectUris = z
  .array(z.string().min(1).max(2048))
  .min(1, { error: 'at least one redirect URI' })
  .max(mostRedirectUris)
  .transform((uris) => [...new Set(uris)]);
const perMinute = z.number().int().min(1).max(1_000_000);
const source = z.string().regex(sourceNamePattern, { error: 'expected the name of a verification source' });
const sources = z
  .array(source)
  .min(1, { error: 'at least one verification source' })
  .max(10)
  .transform((names) => [...new Set(names)]);
const brandColor = z
  .string()
  .toLowerCase()
  .regex(/^#[0-9a-f]{6}$/, { error: 'expected a colour such as #0a7f5c' });

const brandName = brandText(120);
const purpose = brandText(140);
const maxVerificationAgeSeconds = boundedSeconds(60, 3_650 * 86_400);

export const CreateClient = z.strictObject({
  partnerId: reference('partner'),
  keyId: reference('apiKey'),
  name: DisplayName,
  kind: ClientKind.default('oauth'),
  redirectUris,
  claims,
  sources: sources.optional(),
  brandName: brandName.optional(),
  brandColor: brandColor.optional(),
  purpose: purpose.optional(),
  privacyUrl: WebAddress.optional(),
  passkeys: z.boolean().optional(),
  maxVerificationAgeSeconds: maxVerificationAgeSeconds.optional(),
  openid: z.boolean().optional(),
  defaultClaims: claims.optional(),
  idTokenAlg: IdTokenAlg.optional(),
  tokenRequestsPerMinute: perMinute.optional(),
  userinfoRequestsPerMinute: perMinute.optional(),
});
export type CreateClient = z.infer<typeof CreateClient>;

/**
 * A field that is left out stays as it is. Null sets the default. `keyId` moves the client to another key. The redirect URIs are
 * either replaced, or some are added and removed.
 */
export const UpdateClient = z
  .strictObject({
    clientId: reference('client'),
    keyId: reference('apiKey').optional(),
    name: DisplayName.optional(),
    redirectUris: redirectUris.optional(),
    addRedirectUris: redirectUris.optional(),
    removeRedirectUris: redirectUris.optional(),
    claims: claims.optional(),
    sources: sources.nullable().optional(),
    brandName: brandName.nullable().optional(),
    brandColor: brandColor.nullable().optional(),
    purpose: purpose.nullable().optional(),
    privacyUrl: WebAddress.nullable().optional(),
    passkeys: z.boolean().optional(),
    maxVerificationAgeSeconds: maxVerificationAgeSeconds.nullable().optional(),
    openid: z.boolean().optional(),
    defaultClaims: claims.nullable().optional(),
    idTokenAlg: IdTokenAlg.optional(),
    tokenRequestsPerMinute: perMinute.nullable().optional(),
    userinfoRequestsPerMinute: perMinute.nullable().optional(),
  })
  .refine(
    ({ redirectUris: all, addRedirectUris: add, removeRedirectUris: remove }) =>
      all === undefined || (add === undefined && remove === undefined),
    { error: 'give either redirectUris, or those to add and to remove' },
  );
export type UpdateClient = z.infer<typeof UpdateClient>;

export const RotateClientSecret = z.strictObject({ clientId: reference('client'), keepOldSeconds });
export type RotateClientSecret = z.infer<typeof RotateClientSecret>;

export const ClientReference = z.strictObject({ clientId: reference('client') });
/** The role ops must give a reason. */
export const DisableClient = ClientReference.extend({ reason: OperatorReason.optional() });
export const ListClients = z.strictObject({
  partnerId: reference('partner').optional(),
  keyId: reference('apiKey').optional(),
  mode: Mode.optional(),
  kind: ClientKind.optional(),
  status: ClientStatus.optional(),
  ...page,
});
export type ListClients = z.infer<typeof ListClients>;
