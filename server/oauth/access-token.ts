import { createLocalJWKSet, errors, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { EntryId } from '../../contracts/identifiers.ts';
import type { Keyring } from '../platform/keyring.ts';

/** What we read back out of our own tokens. */
const Payload = z.object({ jti: EntryId, client_id: z.string() });

interface TokenSettings {
  keyring: Pick<Keyring, 'signing' | 'publicKeys'>;
  /** Issuer and audience: the base URL. */
  issuer: string;
  clock: { now(): number };
}

interface Issued {
  _id: string;
  sub: string;
  clientId: string;
  scope: string;
  at: Date;
  expiresAt: Date;
}

const seconds = (date: Date) => Math.floor(date.getTime() / 1000);

/** Access tokens: JWTs of RFC 9068 whose `jti` is the charge that paid for them. */
export function createAccessTokens({ keyring, issuer, clock }: TokenSettings) {
  const keys = createLocalJWKSet({ keys: [...keyring.publicKeys] });
  const header = { alg: 'ES256', typ: 'at+jwt', kid: keyring.signing.kid };

  return {
    sign: (issued: Issued): Promise<string> =>
      new SignJWT({ client_id: issued.clientId, scope: issued.scope })
        .setProtectedHeader(header)
        .setIssuer(issuer)
        .setAudience(issuer)
        .setSubject(issued.sub)
        .setJti(issued._id)
        .setIssuedAt(seconds(issued.at))
        .setExpirationTime(seconds(issued.expiresAt))
        .sign(keyring.signing.privateKey),

    /** The token's id and client, or undefined for anything that is not a token of ours, valid now. */
    async verify(token: string): Promise<{ id: string; clientId: string } | undefined> {
      try {
        const { payload } = await jwtVerify(token, keys, {
          algorithms: ['ES256'],
          typ: 'at+jwt',
          issuer,
          audience: issuer,
          currentDate: new Date(clock.now()),
          requiredClaims: ['exp', 'jti', 'client_id'],
        });
        const known = Payload.safeParse(payload);
        return known.success ? { id: known.data.jti, clientId: known.data.client_id } : undefined;
      } catch (error) {
        if (error instanceof errors.JOSEError || error instanceof TypeError) return undefined;
        throw error;
      }
    },
  };
}
export type AccessTokens = ReturnType<typeof createAccessTokens>;
