import type { Grant } from '../../../contracts/grant.ts';
import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import { presentedCode } from '../../sessions/code.ts';
import type { OpenidRequest } from '../../sessions/session.ts';
import type { CodeSession } from '../../sessions/session-store.ts';
import type { PeopleContext } from '../context.ts';
import { claimsOf } from './claims-snapshot.ts';
import { isWithdrawn } from './enrollment-store.ts';

/** Loads grants of authorization codes: the session of a code, with its user and enrollment. */
export function createGrants({ sessions, findSnapshot }: PeopleContext) {
  /** The claims and the enrollment: as the session stored them with its code, or else from the present user and enrollment. */
  async function claimsAndEnrollment(
    session: CodeSession,
  ): Promise<Pick<Grant, 'evaluatedClaims' | 'enrollment'> | undefined> {
    const { snapshot, enrollmentId } = session;
    if (snapshot && enrollmentId) {
      const { claims, rehearse } = snapshot;
      // A block or a withdrawal would have removed the snapshot, so the enrollment is active.
      return { evaluatedClaims: claims, enrollment: { id: enrollmentId, status: 'active', rehearse } };
    }
    const { user, enrollment } = (await findSnapshot(session)) ?? {};
    if (!user || !enrollment) return undefined;
    const { _id: id, rehearse } = enrollment;
    // An enrollment that is blocked and withdrawn counts as blocked.
    const isOnlyWithdrawn = enrollment.status === 'active' && isWithdrawn(enrollment, session);
    const status = isOnlyWithdrawn ? 'withdrawn' : enrollment.status;
    return { evaluatedClaims: claimsOf(user), enrollment: { id, status, rehearse } };
  }

  const toOpenidGrant = ({ nonce, authenticatedAt }: OpenidRequest): Grant['openid'] =>
    authenticatedAt && { nonce, authenticatedAt };

  /** Undefined for a session without a code, and after the user was erased. */
  async function toGrant(session: CodeSession): Promise<Grant | undefined> {
    const { _id: sessionId, code, sub, returning = false } = session;
    const found = code && sub && (await claimsAndEnrollment(session));
    if (!found) return undefined;
    const { clientId, keyId, redirectUri, scope, codeChallenge, openid } = session;
    const request = { sessionId, clientId, keyId, redirectUri, scope, codeChallenge };
    const { expiresAt, wrongVerifiers } = code;
    return {
      ...request,
      openid: openid && toOpenidGrant(openid),
      expiresAt,
      wrongVerifiers,
      sub,
      returning,
      ...found,
    };
  }

  /** Loads the grant of a code. Calls in the same tick share a round trip. The caller checks whether it has expired. */
  const load = createGroupCommit<string, Grant | undefined>({
    async run(codes) {
      const distinct = [...new Set(codes)];
      const found = await sessions.findByCodes(distinct.map(presentedCode));
      const grants = await Promise.all(found.map(async (session) => session && toGrant(session)));
      const byCode = new Map(distinct.map((code, index) => [code, grants[index]]));
      return codes.map((code) => byCode.get(code));
    },
  });

  return {
    load,

    /** @returns how many wrong verifiers were sent for the session's code, this one included */
    countWrongVerifier: async (sessionId: string): Promise<number> =>
      // The session may have been deleted since its grant was loaded. Then there is no code left to guess for.
      (await sessions.countWrongVerifier(sessionId)) ?? 0,
  };
}
