import { createLocalJWKSet, errors, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { EntryId } from '../../contracts/identifiers.ts';
import { sha256 } from '../platform/ids.ts';
import { createSigner } from '../platform/keys/jws.ts';
import type { Keyring } from '../platform/keys/keyring.ts';

/** What we read back out of our own tokens. */
const Payload = z.object({ jti: EntryId, client_id: z.string(), exp: z.number() });

interface TokenSettings {
  keyring: Pick<Keyring, 'signing' | 'publicKeys'>;
  /** Issuer and audience: the base URL. */
  issuer: string;
  clock: { now(): number };
}

interface Issued {
  id: string;
  sessionId: string;
  sub: string;
  clientId: string;
  scope: string;
  at: Date;
  expiresAt: Date;
}

interface Known {
  id: string;
  clientId: string;
  /** Seconds since the epoch. */
  exp: number;
  /** The key that has signed it. */
  kid: string | undefined;
}

/** A token that this service has signed. */
export interface OwnToken {
  id: string;
  clientId: string;
  expiresAt: Date;
  isExpired: boolean;
}

/** Tokens of which a process remembers that they are ours, by their hash: some 5 MB. */
const remembered = 20_000;

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

const verifierOf = (published: Keyring['publicKeys']) => ({
  published,
  kids: new Set(published.map(({ kid }) => kid)),
  keys: createLocalJWKSet({ keys: [...published] }),
});

/** Access tokens: JWTs of RFC 9068 whose `jti` is the charge that paid for them. */
export function createAccessTokens({ keyring, issuer, clock }: TokenSettings) {
  let verifier = verifierOf(keyring.publicKeys);
  const signed = createSigner(keyring, 'at+jwt');
  /** Tokens that were signed or verified once are not verified again. */
  const ours = new LRUCache<string, Known>({ max: remembered });

  function present() {
    if (verifier.published !== keyring.publicKeys) verifier = verifierOf(keyring.publicKeys);
    return verifier;
  }
  const keys: JWTVerifyGetKey = (header, token) => present().keys(header, token);

  const view = ({ id, clientId, exp }: Known): OwnToken => ({
    id,
    clientId,
    expiresAt: new Date(exp * 1000),
    isExpired: exp <= seconds(new Date(clock.now())),
  });

  return {
    sign({ id, sessionId, clientId, scope, sub, at, expiresAt }: Issued): string {
      const exp = seconds(expiresAt);
      const about = { client_id: clientId, scope, sub, sid: sessionId, jti: id };
      const token = signed({ ...about, iss: issuer, aud: issuer, iat: seconds(at), exp });
      ours.set(sha256(token), { id, clientId, exp, kid: keyring.signing.kid });
      return token;
    },

    /** What a token of ours says, also after it has expired; undefined for anything else. */
    async verify(token: string): Promise<OwnToken | undefined> {
      const hash = sha256(token);
      const known = ours.get(hash);
      // A key can be taken out while its tokens live: then they are not ours any more.
      if (known && present().kids.has(known.kid)) return view(known);
      try {
        const { payload, protectedHeader } = await jwtVerify(token, keys, {
          algorithms: ['ES256'],
          typ: 'at+jwt',
          issuer,
          audience: issuer,
          currentDate: new Date(0), // the expiry is checked separately
          requiredClaims: ['exp', 'jti', 'client_id'],
        });
        const { success, data } = Payload.safeParse(payload);
        if (!success) return undefined;
        const verified = { id: data.jti, clientId: data.client_id, exp: data.exp, kid: protectedHeader.kid };
        ours.set(hash, verified);
        return view(verified);
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
        throw error;
      }
    },
  };
}
export type AccessTokens = ReturnType<typeof createAccessTokens>;
