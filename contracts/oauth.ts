import { z } from 'zod';
import { ClaimName, ClaimsMap, ClaimsMeta } from './claims.ts';
import { errorTable } from './errors.ts';
import { DateTime } from './identifiers.ts';
import { IdTokenAlg, openidScope } from './openid.ts';
import { VerificationLevel } from './storefront.ts';

const text = (max: number) => z.string().min(1).max(max);

/** The only grant type of the token endpoint. */
export const grantType = 'authorization_code';

/** The body of a token request (interface 2.2). */
export const TokenRequest = z
  .object({
    grant_type: z
      .literal(grantType, {
        // Zod words a missing literal like a wrong one. `undefined` keeps that text for a wrong one.
        error: ({ input }) => (input === undefined ? 'grant_type is required' : undefined),
      })
      .describe('Always authorization_code'),
    code: text(256).describe('The authorization code, svc_code_…'),
    client_id: text(128),
    client_secret: text(256),
    redirect_uri: text(2048).describe('Byte for byte the one of the start, trailing slash included'),
    /** The PKCE verifier (RFC 7636 4.1). */
    code_verifier: z
      .string()
      .regex(/^[A-Za-z0-9._~-]{43,128}$/, { error: 'code_verifier must be 43 to 128 unreserved characters' })
      .describe('What code_challenge is the SHA-256 of'),
  })
  .meta({ id: 'TokenRequest' });
export type TokenRequest = z.infer<typeof TokenRequest>;

/** The credentials in the body, which are absent if the request has a Basic header. */
const credentials = { client_id: true, client_secret: true } as const;
export const ClientCredentials = TokenRequest.pick(credentials);
export const TokenRequestWithBasic = TokenRequest.omit(credentials).meta({ id: 'TokenRequestWithBasic' });

/** How long an access token is valid, in seconds (interface section 8). */
export const accessTokenLifetimeSeconds = 3600;

/** The response to a token request (interface 2.3). */
export const TokenResponse = z
  .strictObject({
    access_token: z.string().describe('JWT of RFC 9068'),
    token_type: z.literal('Bearer'),
    expires_in: z.literal(accessTokenLifetimeSeconds).meta({ type: 'integer', description: 'Seconds' }),
    scope: z.string().describe('The known claim identifiers of the start, in that order'),
  })
  .meta({ id: 'TokenResponse' });
export type TokenResponse = z.infer<typeof TokenResponse>;

/** The response to a client whose user was verified with the scope `openid` (OpenID Connect Core 3.1.3.3). */
export const OpenidTokenResponse = TokenResponse.extend({
  scope: z.string().describe('`openid` and the known claim identifiers of the start, in that order'),
  id_token: z.string().describe('JWT of OpenID Connect Core 2, signed with RS256 or ES256'),
}).meta({ id: 'OpenidTokenResponse' });
export type OpenidTokenResponse = z.infer<typeof OpenidTokenResponse>;

/** The error codes of the OAuth endpoints (interface 7.4 and 7.5), taken from the table of errors. */
export const OAuthErrorCode = z
  .enum([...new Set(Object.values(errorTable).flatMap(({ oauth }) => oauth ?? []))] as [string, ...string[]])
  .meta({ id: 'OAuthErrorCode', description: 'For programs: see the table of errors' });

/** The body of an error of the OAuth endpoints (interface 2.4). */
export const OAuthError = z
  .strictObject({
    error: OAuthErrorCode,
    error_description: z.string().describe('For developers: may change at any time'),
  })
  .meta({ id: 'OAuthError' });
export type OAuthError = z.infer<typeof OAuthError>;

/** The response of the userinfo endpoint (interface 2.5). */
export const UserinfoResponse = z
  .strictObject({
    sub: z.string().describe('Stable pseudonym of the user for this partner'),
    evaluated_at: DateTime.describe('When the token was issued'),
    claims: ClaimsMap,
    meta: ClaimsMeta,
  })
  .meta({ id: 'UserinfoResponse' });
export type UserinfoResponse = z.infer<typeof UserinfoResponse>;

/** The body of a revocation request (interface 2.6). */
export const RevokeRequest = z
  .object({
    token: text(8192),
    token_type_hint: z.literal('access_token').optional(),
    client_id: text(128),
    client_secret: text(256),
  })
  .meta({ id: 'RevokeRequest' });
export type RevokeRequest = z.infer<typeof RevokeRequest>;
export const RevokeRequestWithBasic = RevokeRequest.omit(credentials).meta({ id: 'RevokeRequestWithBasic' });

/** The metadata of the authorization server (RFC 8414). */
export const AuthorizationServerMetadata = z.object({
  issuer: z.url(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  userinfo_endpoint: z.url(),
  revocation_endpoint: z.url(),
  jwks_uri: z.url(),
  scopes_supported: z.array(ClaimName),
  response_types_supported: z.tuple([z.literal('code')]),
  response_modes_supported: z.tuple([z.literal('query')]),
  grant_types_supported: z.tuple([z.literal('authorization_code')]),
  code_challenge_methods_supported: z.tuple([z.literal('S256')]),
  token_endpoint_auth_methods_supported: z.array(z.enum(['client_secret_post', 'client_secret_basic'])),
  revocation_endpoint_auth_methods_supported: z.array(z.enum(['client_secret_post', 'client_secret_basic'])),
  authorization_response_iss_parameter_supported: z.literal(true),
  service_documentation: z.url().optional(),
});
export type AuthorizationServerMetadata = z.infer<typeof AuthorizationServerMetadata>;

/** The metadata of the OpenID provider (OpenID Connect Discovery 3). */
export const OpenidConfiguration = AuthorizationServerMetadata.extend({
  scopes_supported: z.array(z.union([z.literal(openidScope), ClaimName])),
  subject_types_supported: z.tuple([z.literal('pairwise')]),
  id_token_signing_alg_values_supported: z.array(IdTokenAlg),
  acr_values_supported: z.array(VerificationLevel),
  claims_supported: z.array(z.string()),
  claims_parameter_supported: z.literal(false),
  request_parameter_supported: z.literal(false),
  request_uri_parameter_supported: z.literal(false),
});
export type OpenidConfiguration = z.infer<typeof OpenidConfiguration>;
