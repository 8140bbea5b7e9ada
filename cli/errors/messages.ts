import type { ErrorCode } from '../../contracts/errors.ts';

/**
 * Messages that responses may have instead of the text in the error table, without names, times and numbers.
 * `svcadmin error MESSAGE` finds the error of a message by them.
 */
export const errorMessages: Readonly<Partial<Record<ErrorCode, readonly string[]>>> = {
  invalid_request: [
    'Content-Type must be application/json',
    'The request body is not valid JSON',
    'must be given once',
    'The form has more than fields',
    'Send the client credentials in the body or in the Authorization header, not in both',
    'The Authorization header is not of the form Basic base64(client_id:client_secret)',
  ],
  invalid_client: [
    'client_secret fails its checksum: it is mistyped or cut',
    'client_secret has white space at its ends',
    'client_id has white space in it',
    'client_secret is an API key, not a client secret',
  ],
  invalid_grant: [
    'code fails its checksum: it is mistyped or cut',
    'code has white space at its ends',
    'Unknown authorization code for this client',
    'Codes of a storefront client are exchanged at the storefront endpoint',
    'Too many wrong code_verifiers for this code',
    'The authorization code has expired',
    'Authorization code already used at; charge txn_',
    'code_verifier does not match the code_challenge; tries are left for this code',
  ],
  invalid_scope: ['This client may no longer ask for'],
  invalid_redirect_uri: ['This client has no redirect URI'],
  client_inactive: ['The API key that owns this client is revoked'],
  rate_limited: [
    'Spend limit exceeded: minute bucket',
    'Spend limit exceeded: hour bucket',
    'Token endpoint rate limit exceeded',
    'Userinfo rate limit exceeded',
    'Integration rate limit exceeded',
    'Too many wrong client secrets',
    'Too many requests that were not billed',
    'Too many verifications were started from this address',
  ],
  service_unavailable: ['Too many requests are in flight; try again shortly'],
  invalid_signature: [
    'Invalid signature or missing signing headers:',
    'Invalid signature: X-SVC-Timestamp is more than 300 seconds off',
  ],
  integration_inactive: ['Integration is disabled', 'The client of this enrollment is disabled'],
  code_not_found: ['Authorization code not found: it was used at; charge txn_'],
};
