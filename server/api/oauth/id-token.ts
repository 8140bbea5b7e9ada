import { createHash } from 'node:crypto';
import type { Access } from '../../../contracts/charge.ts';
import type { OpenidGrant } from '../../../contracts/grant.ts';
import type { IdTokenAlg } from '../../../contracts/openid.ts';
import { verificationLevelOf } from '../../../contracts/storefront.ts';
import { createRsaSigner, createSigner } from '../../platform/keys/jws.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';

/** The claims of an ID token besides the verified ones of the user. */
export const idTokenClaimNames = [
  ...(['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'at_hash', 'sid', 'acr'] as const),
];

interface Subject {
  /** `at` and `expiresAt` are also those of the access token. */
  access: Pick<Access, 'clientId' | 'sessionId' | 'sub' | 'claims' | 'at' | 'expiresAt'>;
  accessToken: string;
  openid: OpenidGrant;
  alg: IdTokenAlg;
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** Returns the left half of the SHA-256 of an access token, in base64url (OpenID Connect Core 3.1.3.6). */
const atHashOf = (accessToken: string) =>
  createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url');

/** Makes the function that signs ID tokens (OpenID Connect Core 2). @param issuer the base URL */
export function createIdTokens(keyring: Pick<Keyring, 'signing' | 'signingRsa'>, issuer: string) {
  // An access token has another `typ`, so that the endpoints accept no ID token in its place.
  const signers = { ES256: createSigner(keyring, 'JWT'), RS256: createRsaSigner(keyring, 'JWT') };

  /** Claims that the source could not tell are left out. `acr` tells no more than the claim that it is derived from. */
  return async ({ access, accessToken, openid, alg }: Subject): Promise<string> => {
    const { clientId, sessionId, sub, claims, at, expiresAt } = access;
    const known = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
    const level = known['assurance_level'];
    return signers[alg]({
      ...known,
      iss: issuer,
      sub,
      aud: clientId,
      exp: seconds(expiresAt),
      iat: seconds(at),
      auth_time: seconds(openid.authenticatedAt),
      nonce: openid.nonce,
      at_hash: atHashOf(accessToken),
      sid: sessionId,
      acr: level === undefined ? undefined : verificationLevelOf(level),
    });
  };
}
export type SignIdToken = ReturnType<typeof createIdTokens>;
