import { hasPasskey } from '../../partners/members/member-passkeys.ts';
import type { MemberSession } from '../../partners/members/member-session-store.ts';
import type { Member } from '../../partners/members/member-store.ts';
import { isWellFormedSecret, randomSecret, sha256 } from '../../platform/ids.ts';
import type { PortalDependencies } from './dependencies.ts';

/** The lifetime of a session of a browser or a program, in milliseconds. */
export const sessionLifetimeMs = 12 * 3_600_000;
/**
 * A session is fresh for this time after the member has used the passkey, in milliseconds. Only a fresh session may change secrets
 * and members, so that a browser that was left open cannot be misused for it.
 */
export const freshForMs = 30 * 60_000;
/** Until when a session is fresh, in milliseconds since 1970. */
export const freshUntil = ({ passkeyAt }: Pick<MemberSession, 'passkeyAt'>): number =>
  passkeyAt.getTime() + freshForMs;

export interface SignedIn {
  member: Member;
  session: MemberSession;
  /** The secret in the browser's cookie, or the token of a program. */
  secret: string;
  /** Whether the passkey was used in the last 30 minutes (`freshForMs`). */
  isFresh: boolean;
}

/** The kinds of secrets that name a session: the one in the cookie of a browser, and the token of a program. */
type SessionSecret = 'memberSession' | 'deviceToken';

export function createMemberSessions({ stores, clock, showPartner }: PortalDependencies) {
  const { members, memberSessions } = stores;

  /** Whether a member may act by a session: the passkey that started it is the member's. A program may act only in the role in which the member let it in. */
  async function mayAct(member: Member, { device, credentialId }: MemberSession): Promise<boolean> {
    const { status, role, partnerId } = member;
    if (status !== 'active') return false;
    if (!hasPasskey(member, credentialId)) return false;
    return !device || (role === device.role && (await showPartner(partnerId)).status !== 'suspended');
  }

  return {
    /**
     * Stores a new session of a member who has used a passkey.
     * @returns the secret of the session; undefined if the member may not act any more, or has lost the passkey
     */
    async start(
      kind: SessionSecret,
      fields: Pick<MemberSession, 'memberId' | 'partnerId' | 'credentialId' | 'passkeyAt' | 'device'>,
    ): Promise<{ secret: string; expiresAt: Date } | undefined> {
      const now = clock.now();
      const secret = randomSecret(kind);
      const expiresAt = new Date(now + sessionLifetimeMs);
      const session = { _id: sha256(secret), ...fields, createdAt: new Date(now), expiresAt };
      await memberSessions.insert(session);
      // A removal, a new role or a new passkey ends stored sessions. If it came just before, it has missed this session.
      const member = await members.find(fields.memberId);
      if (member && (await mayAct(member, session))) return { secret, expiresAt };
      await memberSessions.end(session._id);
      return undefined;
    },

    /**
     * Finds the session of a secret. If the member may not act by it any more, the secret becomes invalid permanently.
     * @returns undefined if the secret is invalid or has expired
     */
    async find(kind: SessionSecret, secret: string): Promise<SignedIn | undefined> {
      if (!isWellFormedSecret(kind, secret)) return undefined;
      const session = await memberSessions.find(sha256(secret));
      const now = clock.now();
      if (!session || session.expiresAt.getTime() <= now) return undefined;
      const member = await members.find(session.memberId);
      if (member && (await mayAct(member, session)))
        return { member, session, secret, isFresh: now < freshUntil(session) };
      await memberSessions.end(session._id);
      return undefined;
    },

    /** Ends a session. Idempotent. */
    end: (secret: string): Promise<void> => memberSessions.end(sha256(secret)),
  };
}
export type MemberSessions = ReturnType<typeof createMemberSessions>;
