import { claimNames } from '../../contracts/claims.ts';
import type { AuthorizationServerMetadata } from '../../contracts/oauth.ts';

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
