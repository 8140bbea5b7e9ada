import type {
  InviteMember,
  ListMembers,
  MemberRole,
  SetMemberRole,
  SetMemberWishes,
} from '../../contracts/admin/members.ts';
import type { Total } from '../../contracts/admin/references.ts';
import { identifierKind } from '../../contracts/identifiers.ts';
import type { Clock } from '../platform/clock.ts';
import { type Actor, auditEntry } from '../platform/database/audit-entry.ts';
import { createAuditedChange, type Decide } from '../platform/database/audited-change.ts';
import { isDuplicateKey } from '../platform/database/failures.ts';
import { ApiError } from '../platform/errors.ts';
import { deriveId, isWellFormedSecret, randomSecret, sha256 } from '../platform/ids.ts';
import type { PasskeyKey } from '../platform/webauthn/relying-party.ts';
import type { Member } from './member-store.ts';
import type { MembersStores } from './store.ts';

/** The lifetime of an invitation, in milliseconds. */
export const invitationLifetimeMs = 48 * 3_600_000;
/** A hold (see `holdOtherOwner`) ends after this time, in milliseconds, even if a crash has prevented its release. */
const holdMs = 10_000;
/** The time that a removed member stays in the list, without the e-mail address, in milliseconds. */
export const removedRetentionMs = 30 * 86_400_000;

interface Dependencies {
  stores: MembersStores;
  clock: Pick<Clock, 'now'>;
  /** Derives a member's id. */
  idKey: Uint8Array;
  /** @throws ApiError `not_found` */
  requirePartner: (partnerId: string) => Promise<unknown>;
}

export type Members = ReturnType<typeof createMembers>;

/** A member's name in the audit log. It is not the e-mail address, because audit entries are never deleted. */
export const memberName = (role: MemberRole): string => `member (${role})`;

/** Whether an actor is a member. All other actors are operators. */
export const isMemberId = (actorId: string): boolean => identifierKind(actorId) === 'member';

/** Whether the member is an owner, or is invited to be one. */
const isOwner = ({ role, status }: { role?: string | undefined; status?: string | undefined }): boolean =>
  role === 'owner' && status !== 'removed';

const lastOwnerError = ({ _id, partnerId }: Member) =>
  new ApiError('refused', {
    description: `${_id} is the only owner of ${partnerId}. Invite another one first: svcadmin members invite ${partnerId} EMAIL --role owner`,
  });

const removedMemberError = (memberId: string) =>
  new ApiError('refused', { description: `${memberId} was removed; invite the person again` });

/** Invites, changes and removes members of partners. The methods throw ApiError. */
export function createMembers({ stores, clock, idKey, requirePartner }: Dependencies) {
  const { members, memberSessions } = stores;
  const change = createAuditedChange(members, clock);

  /**
   * Holds another owner while a member is changed: until the release, that owner cannot lose the role. Without a hold, two
   * simultaneous changes could end the role of the last two owners. If a member acts, the actor is held. If an operator changes an
   * owner, any other owner of the partner is held.
   * @returns the id of the held owner; undefined if an operator changes a member who is no owner, or the only owner
   */
  async function holdOtherOwner(memberId: string, { operatorId }: Actor): Promise<string | undefined> {
    const now = clock.now();
    const until = new Date(now + holdMs);
    if (isMemberId(operatorId)) {
      const held = await members.holdOwner({ _id: operatorId, status: 'active' }, until);
      if (!held) throw new ApiError('not_permitted');
      return held;
    }
    const member = await members.get(memberId);
    if (!isOwner(member)) return undefined;
    const { partnerId } = member;
    const invited = { status: 'invited' as const, 'invitation.expiresAt': { $gt: new Date(now) } };
    const others = { partnerId, _id: { $ne: memberId }, $or: [{ status: 'active' as const }, invited] };
    return members.holdOwner(others, until);
  }

  /** Changes a member for an operator or for another owner. Refuses a change that would leave the partner without an owner. */
  async function changeOther(memberId: string, actor: Actor, decide: Decide<Member>): Promise<Member> {
    const otherOwner = await holdOtherOwner(memberId, actor);
    try {
      return await change(memberId, actor, (before, now) => {
        const wanted = decide(before, now);
        const endsOwnership = wanted && isOwner(before) && !isOwner({ ...before, ...wanted.set });
        if (!endsOwnership) return wanted;
        // This member is held, because a simultaneous change of another owner needs an owner who remains.
        if (before.actingUntil && before.actingUntil.getTime() > now)
          throw new ApiError('conflict', { description: `${memberId} is changing members now; try again` });
        // An owner who has not accepted the invitation yet is not counted, and can always be changed.
        if (before.status === 'active' && !otherOwner) throw lastOwnerError(before);
        return wanted;
      });
    } finally {
      if (otherOwner) await members.releaseOwner(otherOwner);
    }
  }

  /** Members cannot change themselves. So the owner who acts always remains an owner. */
  function refuseSelf(memberId: string, actor: Actor): void {
    if (memberId === actor.operatorId)
      throw new ApiError('refused', { description: 'Another owner has to change your own membership' });
  }

  /** Adds a member; undefined if a member with this id exists. */
  async function add(
    member: Parameters<typeof members.insert>[0],
    actor: Actor,
  ): Promise<Member | undefined> {
    const { _id: id, role } = member;
    const entry = auditEntry(actor, { id, at: clock.now() }, { after: { role, status: 'invited' } });
    try {
      return await members.insert(member, entry);
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }

  return {
    /**
     * Invites a person, or gives a member a new link. The passkey that the member makes with it replaces the old one.
     * @returns the member, and the secret of the link, which is stored only as a hash
     */
    async invite({ partnerId, email, role }: InviteMember, actor: Actor) {
      await requirePartner(partnerId);
      // The id follows from the address, so a second invitation of a person finds the same record.
      const id = deriveId(idKey, 'member', [partnerId, email]);
      refuseSelf(id, actor);
      const now = clock.now();
      const secret = randomSecret('invitation');
      const invitation = { hash: sha256(secret), expiresAt: new Date(now + invitationLifetimeMs) };
      const fields = { email, role, invitedBy: actor.operatorId, invitation };
      const newMember = await add(
        { _id: id, partnerId, status: 'invited', ...fields, createdAt: new Date(now) },
        actor,
      );
      if (newMember) return { member: newMember, secret };
      const member = await changeOther(id, actor, (before) => {
        // An active member can still sign in with the old passkey until the new link is used.
        const status = before.status === 'active' ? 'active' : 'invited';
        return {
          set: { ...fields, status, removedAt: undefined, purgeAt: undefined },
          before: { role: before.role, status: before.status },
          after: { role, status, invited: true },
        };
      });
      return { member, secret };
    },

    show: (memberId: string): Promise<Member> => members.get(memberId),

    list: ({ partnerId, status, ...page }: ListMembers): Promise<Member[]> =>
      members.list({ partnerId, status }, page),
    count: ({ partnerId, status }: Pick<ListMembers, 'partnerId' | 'status'>): Promise<Total> =>
      members.count({ partnerId, status }),

    /** Changes the role, with effect from the member's next request. Ends the sessions of the member's programs. */
    async setRole({ memberId, role }: SetMemberRole, actor: Actor): Promise<Member> {
      refuseSelf(memberId, actor);
      const member = await changeOther(memberId, actor, (before) => {
        if (before.status === 'removed') throw removedMemberError(memberId);
        if (before.role === role) return undefined;
        return { set: { role }, before: { role: before.role }, after: { role } };
      });
      // The member allowed these programs to act in the old role only.
      await memberSessions.endDevices({ memberId });
      return member;
    },

    /** Sets whether the member gets e-mails about warnings. */
    setWishes: ({ memberId, warnings }: SetMemberWishes, actor: Actor): Promise<Member> =>
      change(memberId, actor, (before) => {
        if (before.status === 'removed') throw removedMemberError(memberId);
        if ((before.warnings ?? false) === warnings) return undefined;
        // Only true is stored.
        return {
          set: { warnings: warnings || undefined },
          before: { warnings: !warnings },
          after: { warnings },
        };
      }),

    /** Ends the member's sessions, passkey and invitation, and erases the e-mail address. Idempotent. */
    async remove(memberId: string, actor: Actor): Promise<Member> {
      refuseSelf(memberId, actor);
      const member = await changeOther(memberId, actor, ({ status }, now) => {
        if (status === 'removed') return undefined;
        const erased = { email: undefined, passkey: undefined, invitation: undefined, warnings: undefined };
        return {
          set: {
            ...erased,
            status: 'removed',
            removedAt: new Date(now),
            purgeAt: new Date(now + removedRetentionMs),
          },
          before: { status },
          after: { status: 'removed' },
        };
      });
      await memberSessions.endAllOf(memberId);
      return member;
    },

    /** The member of a valid invitation; undefined for any other text. */
    async invited(secret: string): Promise<Member | undefined> {
      if (!isWellFormedSecret('invitation', secret)) return undefined;
      const member = await members.findInvited(sha256(secret));
      const isValid = member?.invitation && member.invitation.expiresAt.getTime() > clock.now();
      return isValid ? member : undefined;
    },

    /**
     * Uses an invitation. The new passkey replaces an earlier one, and ends its sessions.
     * @param invited the member that `invited` found
     * @returns undefined if another request has used or replaced the invitation since then
     */
    async accept(
      { _id: id, invitation, passkey: oldPasskey }: Member,
      passkey: PasskeyKey,
      call: Omit<Actor, 'operatorId' | 'operatorName'>,
    ): Promise<Member | undefined> {
      const member = await members.change(id, ({ invitation: current, role, status }) => {
        if (current?.hash !== invitation?.hash) return undefined;
        const now = clock.now();
        // The role may have changed since `invited`, and the audit log names the present one.
        const actor = { ...call, operatorId: id, operatorName: memberName(role) };
        // The audit log has the word "replaced" also for a member's first passkey.
        const difference = { before: { status }, after: { status: 'active', passkey: 'replaced' } };
        return {
          set: {
            status: 'active',
            invitation: undefined,
            passkey: {
              ...passkey,
              publicKey: Buffer.from(passkey.publicKey).toString('base64url'),
              addedAt: new Date(now),
              // Sign-in challenges that were issued before now are refused.
              answeredAt: now,
            },
            lastSignInAt: new Date(now),
          },
          entry: auditEntry(actor, { id, at: now }, difference),
        };
      });
      // Nothing was changed if the invitation was not the same any more. The member then does not have the new passkey.
      if (member.passkey?.credentialId !== passkey.credentialId) return undefined;
      if (oldPasskey) await memberSessions.endAllOf(id);
      return member;
    },
  };
}
