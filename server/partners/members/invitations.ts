import type { Clock } from '../../platform/clock.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { isWellFormedSecret, sha256 } from '../../platform/ids.ts';
import type { PasskeyKey } from '../../platform/webauthn/relying-party.ts';
import { requireReleased } from './held-invitations.ts';
import { memberName } from './member-name.ts';
import { hasPasskey, newPasskey } from './member-passkeys.ts';
import type { Member } from './member-store.ts';
import { refuseForeignPasskey } from './passkey-changes.ts';
import type { MembersStores } from './store.ts';

export function createInvitations(
  { members, memberSessions }: Pick<MembersStores, 'members' | 'memberSessions'>,
  clock: Pick<Clock, 'now'>,
) {
  return {
    /** The member of a valid invitation; undefined for any other text. */
    async find(secret: string): Promise<Member | undefined> {
      if (!isWellFormedSecret('invitation', secret)) return undefined;
      const member = await members.findInvited(sha256(secret));
      const isValid = member?.invitation && member.invitation.expiresAt.getTime() > clock.now();
      return isValid ? member : undefined;
    },

    /**
     * Uses an invitation. The new passkey replaces all earlier ones, and ends their sessions.
     * @param invited the member that `find` found
     * @returns undefined if another request has used or replaced the invitation since then
     * @throws ApiError `unauthorized` if another member has this passkey
     */
    async accept(
      invited: Member,
      passkey: PasskeyKey,
      call: Omit<Actor, 'operatorId' | 'operatorName'>,
    ): Promise<Member | undefined> {
      const { _id: id, invitation, passkey: oldPasskey } = invited;
      const accepted = members.change(id, (before) => {
        const { invitation: current, role, status, invitedBy } = before;
        if (current?.hash !== invitation?.hash) return undefined;
        const now = clock.now();
        requireReleased(before, now);
        // The role may have changed since `find`, and the audit log names the present one.
        const actor = { ...call, operatorId: id, operatorName: memberName(role) };
        // The audit log has the word "replaced" also for a member's first passkey.
        const newRole = current?.role ?? role;
        const difference = {
          before: { status },
          after: {
            status: 'active',
            passkey: 'replaced',
            invitedBy,
            ...(newRole === role ? {} : { role: newRole }),
          },
        };
        return {
          set: {
            status: 'active',
            role: newRole,
            invitation: undefined,
            passkey: newPasskey(passkey, now),
            lastSignInAt: new Date(now),
          },
          entry: auditEntry(actor, { id, at: now }, difference),
        };
      });
      const member = await accepted.catch(refuseForeignPasskey);
      // Nothing was changed if the invitation was not the same any more. The member then does not have the new passkey.
      if (!hasPasskey(member, passkey.credentialId)) return undefined;
      if (oldPasskey) await memberSessions.endAllOf(id);
      return member;
    },
  };
}
