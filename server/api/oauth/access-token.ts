import { createLocalJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Access } from '../../../contracts/charge.ts';
import { EntryId } from '../../../contracts/identifiers.ts';
import { atMost } from '../../platform/batching/cache-size.ts';
import { sha256 } from '../../platform/ids.ts';
import { createSigner } from '../../platform/keys/jws.ts';
import type { Keyring } from '../../platform/keys/keyring.ts';

/** The claims that are read from a token of this service. */
const Payload = z.object({ jti: EntryId, client_id: z.string(), exp: z.number() });

interface TokenSettings {
  keyring: Pick<Keyring, 'signing' | 'publicKeys'>;
  /** Issuer and audience: the base URL. */
  issuer: string;
  clock: { now(): number };
}

type Issued = Pick<Access, 'id' | 'sessionId' | 'sub' | 'clientId' | 'scope' | 'at' | 'expiresAt'>;

/** The content of a token that was signed with one of our keys. */
interface Verified {
  id: string;
  clientId: string;
  /** Seconds since the epoch. */
  exp: number;
  /** Id of the key that has signed the token. */
  kid: string | undefined;
}

/** A token that this service has signed. */
export interface OwnToken {
  id: string;
  clientId: string;
  expiresAt: Date;
  isExpired: boolean;
}

/** The most tokens whose content a process remembers, by the hash of the token: about 5 MB. */
const mostRemembered = 20_000;

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** Signs and verifies access tokens: JWTs of RFC 9068. Their `jti` is the id of the charge that paid for them. */
export function createAccessTokens({ keyring, issuer, clock }: TokenSettings) {
  const signPayload = createSigner(keyring, 'at+jwt');
  let published = keyring.publicKeys;
  let findKey = createLocalJWKSet({ keys: [...published] });
  /** Tokens that this process has signed or verified before, by their hash. Their signatures are not verified again. */
  const remembered = new LRUCache<string, Verified>(atMost(mostRemembered));

  const findPublishedKey: JWTVerifyGetKey = (header, token) => {
    if (published !== keyring.publicKeys) {
      published = keyring.publicKeys;
      findKey = createLocalJWKSet({ keys: [...published] });
    }
    return findKey(header, token);
  };

  const toOwnToken = ({ id, clientId, exp }: Verified): OwnToken => ({
    id,
    clientId,
    expiresAt: new Date(exp * 1000),
    isExpired: exp * 1000 <= clock.now(),
  });

  return {
    /** Signs the token of an access. @returns a compact JWS */
    sign({ id, sessionId, clientId, scope, sub, at, expiresAt }: Issued): string {
      const exp = seconds(expiresAt);
      const about = { client_id: clientId, scope, sub, sid: sessionId, jti: id };
      const token = signPayload({ ...about, iss: issuer, aud: issuer, iat: seconds(at), exp });
      remembered.set(sha256(token), { id, clientId, exp, kid: keyring.signing.kid });
      return token;
    },

    /** Returns the content of a token of this service, also after it has expired. Undefined for anything else. */
    async verify(token: string): Promise<OwnToken | undefined> {
      const hash = sha256(token);
      const earlier = remembered.get(hash);
      // An operator can withdraw a key while its tokens are valid. They are then no longer accepted.
      if (earlier && keyring.publicKeys.some(({ kid }) => kid === earlier.kid)) return toOwnToken(earlier);
      try {
        const { payload, protectedHeader } = await jwtVerify(token, findPublishedKey, {
          algorithms: ['ES256'],
          typ: 'at+jwt',
          issuer,
          audience: issuer,
          currentDate: new Date(0), // No token has expired at this time. `isExpired` tells whether it has now.
        });
        const { success, data } = Payload.safeParse(payload);
        if (!success) return undefined;
        const verified = { id: data.jti, clientId: data.client_id, exp: data.exp, kid: protectedHeader.kid };
        remembered.set(hash, verified);
        return toOwnToken(verified);
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined;
        throw error;
      }
    },
  };
}
export type AccessTokens = ReturnType<typeof createAccessTokens>;
