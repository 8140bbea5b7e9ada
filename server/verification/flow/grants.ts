import type { Grant } from '../../../contracts/grant.ts';
import { createStage } from '../../platform/group-commit.ts';
import { claimsOf, type FindStanding } from '../people/claims-snapshot.ts';
import type { CodeSession, SessionStore } from '../session/session-store.ts';

export interface Grants {
  /** By the SHA-256 of the code; its expiry is for the caller to judge. Loads of the same tick are one round trip. */
  load(codeHash: string): Promise<Grant | undefined>;
  /** @returns how many wrong verifiers this code has met now */
  countWrongVerifier(codeHash: string): Promise<number>;
}

interface Dependencies {
  sessions: Pick<SessionStore, 'findByCodeHashes' | 'countWrongVerifier'>;
  findStanding: FindStanding;
}

/** What codes stand for: the session that issued each, and who stands behind it. */
export function createGrants({ sessions, findStanding }: Dependencies): Grants {
  async function behind(
    session: CodeSession,
  ): Promise<Pick<Grant, 'evaluatedClaims' | 'enrollment'> | undefined> {
    const { backing, enrollmentId: id } = session;
    if (backing && id) {
      const { claims, rehearse } = backing;
      return { evaluatedClaims: claims, enrollment: { id, status: 'active', rehearse } };
    }
    const standing = await findStanding(session);
    if (!standing) return undefined;
    const { _id, status, rehearse } = standing.enrollment;
    return { evaluatedClaims: claimsOf(standing), enrollment: { id: _id, status, rehearse } };
  }

  async function toGrant(session: CodeSession): Promise<Grant | undefined> {
    const {
      _id: sessionId,
      clientId,
      keyId,
      redirectUri,
      scope,
      codeChallenge,
      code,
      sub,
      returning = false,
    } = session;
    const found = code && sub && (await behind(session));
    if (!found) return undefined;
    const { expiresAt, wrongVerifiers } = code;
    const asked = { sessionId, clientId, keyId, redirectUri, scope, codeChallenge };
    return { ...asked, expiresAt, wrongVerifiers, sub, returning, ...found };
  }

  const load = createStage<string, Grant | undefined>({
    async run(hashes) {
      const found = await sessions.findByCodeHashes([...new Set(hashes)]);
      const grants = await Promise.all(
        found.map(async (session) => [session.code?.hash, await toGrant(session)] as const),
      );
      const byHash = new Map(grants);
      return hashes.map((hash) => byHash.get(hash));
    },
  });

  return {
    load,
    countWrongVerifier: async (codeHash) => (await sessions.countWrongVerifier(codeHash)) ?? 0,
  };
}
