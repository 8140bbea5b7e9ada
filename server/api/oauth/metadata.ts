import { claimNames } from '../../../contracts/claims.ts';
import type { AuthorizationServerMetadata, OpenidConfiguration } from '../../../contracts/oauth.ts';
import { idTokenAlgs, openidScope } from '../../../contracts/openid.ts';
import { VerificationLevel } from '../../../contracts/storefront.ts';
import { idTokenClaimNames } from './id-token.ts';

/** How long clients may cache metadata and keys, in seconds. */
export const discoveryLifetimeSeconds = 300;

/** Returns the metadata that client libraries discover (RFC 8414). @param issuer the base URL, without a trailing slash */
export function authorizationServerMetadata(issuer: string): AuthorizationServerMetadata {
  const authMethods: AuthorizationServerMetadata['token_endpoint_auth_methods_supported'] = [
    'client_secret_post',
    'client_secret_basic',
  ];
  return {
    issuer,
    authorization_endpoint: `${issuer}/verify/start`,
    token_endpoint: `${issuer}/api/oauth/token`,
    userinfo_endpoint: `${issuer}/api/oauth/userinfo`,
    revocation_endpoint: `${issuer}/api/oauth/revoke`,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    scopes_supported: claimNames,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: authMethods,
    revocation_endpoint_auth_methods_supported: authMethods,
    authorization_response_iss_parameter_supported: true,
  };
}

/** Returns the metadata that OpenID Connect clients discover (OpenID Connect Discovery 3). @param issuer as above */
export const openidConfiguration = (issuer: string): OpenidConfiguration => ({
  ...authorizationServerMetadata(issuer),
  scopes_supported: [openidScope, ...claimNames],
  subject_types_supported: ['pairwise'],
  id_token_signing_alg_values_supported: [...idTokenAlgs],
  acr_values_supported: VerificationLevel.options,
  claims_supported: [...idTokenClaimNames, ...claimNames],
  claims_parameter_supported: false,
  request_parameter_supported: false,
  // The default of this one is true.
  request_uri_parameter_supported: false,
});
