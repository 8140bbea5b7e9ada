import type { ClaimName, Claims } from '../../contracts/claims.ts';
import type { Grant } from '../../contracts/grant.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { createStage } from '../platform/stage.ts';
import type { CodeSession, SessionStore } from './session-store.ts';
import type { User } from './user-store.ts';

/** A grant with where it comes from. */
interface IssuedGrant extends Grant {
  partnerId: string;
  mode: Mode;
  keyId: string;
  codeHash: string;
  issuedAt: Date;
  userId: string;
  enrollment: Grant['enrollment'] & { blockReason?: string; consentedClaims: ClaimName[] };
}

export interface Grants {
  /** By the SHA-256 of the code; its expiry is for the caller to judge. Loads of the same tick are one round trip. */
  load(codeHash: string): Promise<IssuedGrant | undefined>;
  /** @returns how many wrong verifiers this code has met now */
  countWrongVerifier(codeHash: string): Promise<number>;
}

function valuesOf(claims: User['claims']): Claims {
  return Object.fromEntries(Object.entries(claims).map(([name, { value }]) => [name, value]));
}

function toGrant(session: CodeSession): IssuedGrant | undefined {
  const { code, userId, sub, enrollments, users } = session;
  const [enrollment] = enrollments;
  const [user] = users;
  if (!code || !userId || !sub || !enrollment || !user || user.erasedAt) return undefined;
  const { blockReason, rehearse } = enrollment;
  return {
    sessionId: session._id,
    clientId: session.clientId,
    partnerId: session.partnerId,
    mode: session.mode,
    keyId: session.keyId,
    redirectUri: session.redirectUri,
    scope: session.scope,
    codeChallenge: session.codeChallenge,
    codeHash: code.hash,
    issuedAt: code.issuedAt,
    expiresAt: code.expiresAt,
    wrongVerifiers: code.wrongVerifiers,
    userId,
    sub,
    returning: session.returning ?? false,
    evaluatedClaims: valuesOf(user.claims),
    enrollment: {
      id: enrollment._id,
      status: enrollment.status,
      ...(blockReason ? { blockReason } : {}),
      ...(rehearse ? { rehearse } : {}),
      consentedClaims: enrollment.consentedClaims,
    },
  };
}

export function createGrants(
  sessions: Pick<SessionStore, 'findByCodeHashes' | 'countWrongVerifier'>,
): Grants {
  const load = createStage<string, IssuedGrant | undefined>({
    async run(hashes) {
      const found = await sessions.findByCodeHashes([...new Set(hashes)]);
      const grants = new Map(found.map((session) => [session.code?.hash, toGrant(session)]));
      return hashes.map((hash) => grants.get(hash));
    },
  });

  return {
    load,
    countWrongVerifier: async (codeHash) => (await sessions.countWrongVerifier(codeHash)) ?? 0,
  };
}
