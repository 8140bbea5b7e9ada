import { z } from 'zod';
import { AuditLogEntry } from '../../../contracts/admin/audit-log.ts';
import {
  InvitedMember,
  InviteMember,
  ListActs,
  ListMembers,
  MemberReference,
  MemberView,
  MemberWishes,
  SetMemberRole,
  SetMemberWishes,
} from '../../../contracts/admin/members.ts';
import { pageFields, Total } from '../../../contracts/admin/references.ts';
import { masked } from '../../platform/admin-api/personal-data.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import { viewAs } from '../../platform/admin-api/view.ts';
import type { Clock } from '../../platform/clock.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange, type Decide } from '../../platform/database/audit/audited-change.ts';
import { unlessDuplicate } from '../../platform/database/failures.ts';
import { ApiError } from '../../platform/errors.ts';
import { deriveId, randomSecret, sha256 } from '../../platform/ids.ts';
import { heldUntil, invitationTimes, isByMember } from './held-invitations.ts';
import type { MemberMail } from './member-mail.ts';
import { isMemberId } from './member-name.ts';
import { passkeysOf } from './member-passkeys.ts';
import type { Member } from './member-store.ts';
import { createOwners, isActiveOwner } from './owners.ts';
import type { MembersStores } from './store.ts';

const memberMutation = mutation({ target: 'memberId', record: 'several' });
const partnerMutation = mutation({ target: 'partnerId', record: 'several' });

/** The time that a removed member stays in the list, without the e-mail address, in milliseconds. */
export const removedRetentionMs = 30 * 86_400_000;

interface Dependencies {
  stores: Pick<MembersStores, 'members' | 'memberSessions' | 'ownerEnds'>;
  /** Whether SVC_PORTAL is on. */
  isOn: boolean;
  clock: Pick<Clock, 'now'>;
  /** Derives a member's id. */
  idKey: Uint8Array;
  /** @throws ApiError `not_found` */
  requirePartner: (partnerId: string) => Promise<unknown>;
  /** The public address of the service, without a trailing slash. */
  baseUrl: string;
  /** Returns the audit entries about a partner, by members and operators, newest first. */
  auditEntriesOf: (
    partnerId: string,
    page: Omit<z.infer<typeof ListActs>, 'partnerId'>,
  ) => Promise<AuditLogEntry[]>;
  mailOwners: MemberMail['toOwners'];
}

const removedMemberError = (memberId: string) =>
  new ApiError('refused', { description: `${memberId} was removed; invite the person again` });

/** An audit entry as the partner may see it: without the name, the address and the input of an operator. */
const seenByPartner = (entry: AuditLogEntry): AuditLogEntry =>
  isMemberId(entry.operatorId)
    ? entry
    : {
        ...entry,
        ...{ operatorId: 'support', operatorName: 'support', operatorRole: null },
        ...{ address: masked, input: null },
      };

const withoutInviter = (entry: AuditLogEntry): AuditLogEntry => {
  const invitedBy = entry.after?.['invitedBy'];
  return typeof invitedBy !== 'string' || isMemberId(invitedBy)
    ? entry
    : { ...entry, after: { ...entry.after, invitedBy: 'support' } };
};

function viewMember(member: Member, now: number): MemberView {
  const { invitation } = member;
  const isInvitationValid = invitation && invitation.expiresAt.getTime() > now;
  return viewAs(MemberView, {
    ...member,
    id: member._id,
    passkeys: passkeysOf(member).length,
    invitedUntil: isInvitationValid ? invitation.expiresAt : null,
    heldUntil: heldUntil(member, now),
    invitedAs: isInvitationValid ? invitation.role : null,
  });
}

/** What owners read when support has invited a person. */
function invitationMail({ _id, email, role, invitation }: Member, baseUrl: string) {
  const { heldUntil: until, role: newRole = role } = invitation ?? {};
  const advice = until
    ? `It can be used from ${until.toISOString()}, or when an owner confirms it. Refuse it if you did not ask for it.`
    : 'If you did not ask for it, remove the member.';
  return {
    cause: `invitation ${invitation?.hash ?? _id}`,
    subject: 'Support invited a person to your portal',
    text: `Support invited ${email ?? _id} with the role ${newRole}.\n${advice}\n${baseUrl}/portal/members/${_id}\n`,
  };
}

const wishesOf = ({ _id: memberId, warnings }: Member): MemberWishes => ({
  memberId,
  warnings: warnings ?? false,
});

/** Makes the procedures of `svcadmin members`, by which members of partners are invited, changed and removed. */
export function createMemberProcedures(dependencies: Dependencies) {
  const { isOn, clock, idKey, requirePartner, baseUrl, auditEntriesOf, mailOwners } = dependencies;
  const { members, memberSessions } = dependencies.stores;
  const view = (member: Member) => viewMember(member, clock.now());
  const change = createAuditedChange(members, clock);
  const owners = createOwners(dependencies.stores, clock);

  /** Changes a member for an operator or for another owner. Refuses a change that would leave the partner without an owner. */
  const changeOther = (memberId: string, actor: Actor, decide: Decide<Member>): Promise<Member> =>
    change(memberId, actor, async (before, now) => {
      const wanted = await decide(before, now);
      // An owner who has not accepted the invitation yet is not counted, and can always be changed.
      if (wanted && isActiveOwner(before) && !isActiveOwner({ ...before, ...wanted.set }))
        await owners.permitEnd(before);
      return wanted;
    });

  /** Members cannot change themselves. So the owner who acts always remains an owner. */
  function refuseSelf(memberId: string, actor: Actor): void {
    if (memberId === actor.operatorId)
      throw new ApiError('refused', { description: 'Another owner has to change your own membership' });
  }

  /** Adds a member; undefined if a member with this id exists. */
  function add(member: Parameters<typeof members.insert>[0], actor: Actor): Promise<Member | undefined> {
    const { _id: id, role } = member;
    const entry = auditEntry(actor, { id, at: clock.now() }, { after: { role, status: 'invited' } });
    return unlessDuplicate(members.insert(member, entry));
  }

  /** Decides about a held invitation for an owner. @param next the invitation afterwards; undefined ends it */
  async function decideHeld(
    memberId: string,
    actor: Actor,
    next: (held: NonNullable<Member['invitation']>) => Member['invitation'],
  ): Promise<MemberView> {
    if (!isByMember(actor))
      throw new ApiError('not_permitted', { description: 'An owner of the partner decides, in the portal' });
    const member = await change(memberId, actor, (before, now) => {
      if (!before.invitation || !heldUntil(before, now))
        throw new ApiError('refused', { description: `No invitation of ${memberId} waits for an owner` });
      const invitation = next(before.invitation);
      return { set: { invitation }, before: { held: true }, after: { confirmed: invitation !== undefined } };
    });
    return view(member);
  }

  return router({
    /** Invites a person, or gives a member a new link. The passkey that the member makes with it replaces the old one. */
    invite: partnerMutation(InviteMember, InvitedMember, async ({ partnerId, email, role }, actor) => {
      if (!isOn) throw new ApiError('refused', { description: 'The portal is off: set SVC_PORTAL=on' });
      await requirePartner(partnerId);
      // The id follows from the address, so a second invitation of a person finds the same record.
      const id = deriveId(idKey, 'member', [partnerId, email]);
      refuseSelf(id, actor);
      const now = clock.now();
      // Only the hash of the secret is stored. The link of the result has the secret itself.
      const secret = randomSecret('invitation');
      const hash = sha256(secret);
      const hasActiveOwner = await members.hasActiveOwner(partnerId);
      const invitationFor = (before?: Member) => ({
        hash,
        ...invitationTimes(role, { actor, now, hasActiveOwner, before }),
      });
      const fields = { email, invitedBy: actor.operatorId };
      const newMember = {
        _id: id,
        partnerId,
        status: 'invited' as const,
        ...fields,
        role,
        invitation: invitationFor(),
        createdAt: new Date(now),
      };
      const inviteAgain: Decide<Member> = (before) => {
        // An active member can still sign in with the old passkey until the new link is used.
        const status = before.status === 'active' ? 'active' : 'invited';
        const invitation = invitationFor(before);
        // An owner who loses the role by a held invitation would lose it later, when it could be the last one.
        if (invitation.role && isActiveOwner(before) && role !== 'owner')
          throw new ApiError('refused', {
            description: `${id} is an active owner; change the role: svcadmin members role ${id} --role ${role}`,
          });
        return {
          set: {
            ...fields,
            role: invitation.role ? before.role : role,
            invitation,
            status,
            removedAt: undefined,
            purgeAt: undefined,
          },
          before: { role: before.role, status: before.status },
          after: { role, status, invited: true, ...(invitation.heldUntil ? { held: true } : {}) },
        };
      };
      const member = (await add(newMember, actor)) ?? (await changeOther(id, actor, inviteAgain));
      if (!isByMember(actor) && hasActiveOwner) await mailOwners(partnerId, invitationMail(member, baseUrl));
      return { ...view(member), link: `${baseUrl}/portal/invitations#${secret}` };
    }),

    show: query(MemberReference, MemberView, async ({ memberId }) => view(await members.get(memberId))),

    list: query(ListMembers, z.array(MemberView), async ({ partnerId, status, ...page }) =>
      (await members.list({ partnerId, status }, page)).map(view),
    ),

    count: query(ListMembers.omit(pageFields), Total, (filter) => members.count(filter)),

    /** Lets an invitation by support be used now. Only an owner of the partner can do it. */
    confirmInvitation: memberMutation(MemberReference, MemberView, ({ memberId }, actor) =>
      decideHeld(memberId, actor, ({ heldUntil: _held, ...invitation }) => invitation),
    ),

    /** Ends an invitation by support. */
    refuseInvitation: memberMutation(MemberReference, MemberView, ({ memberId }, actor) =>
      decideHeld(memberId, actor, () => undefined),
    ),

    /** Changes the role, with effect from the member's next request. Ends the sessions of the member's programs. */
    setRole: memberMutation(SetMemberRole, MemberView, async ({ memberId, role }, actor) => {
      refuseSelf(memberId, actor);
      const member = await changeOther(memberId, actor, async (before) => {
        if (before.status === 'removed') throw removedMemberError(memberId);
        if (before.role === role) return undefined;
        // Otherwise support could make a member of its own an owner without the owners' knowledge.
        if (role === 'owner' && !isByMember(actor) && (await members.hasActiveOwner(before.partnerId)))
          throw new ApiError('refused', {
            description: `The partner has an owner, who makes other owners. Or invite the member as one: svcadmin members invite ${before.partnerId} EMAIL --role owner`,
          });
        return { set: { role }, before: { role: before.role }, after: { role } };
      });
      // The member allowed these programs to act in the old role only.
      await memberSessions.endDevices({ memberId });
      return view(member);
    }),

    wishes: query(MemberReference, MemberWishes, async ({ memberId }) =>
      wishesOf(await members.get(memberId)),
    ),

    /** Sets whether the member gets e-mails about warnings. */
    setWishes: memberMutation(SetMemberWishes, MemberWishes, async ({ memberId, warnings }, actor) => {
      const member = await change(memberId, actor, (before) => {
        if (before.status === 'removed') throw removedMemberError(memberId);
        if ((before.warnings ?? false) === warnings) return undefined;
        // Only true is stored.
        return {
          set: { warnings: warnings || undefined },
          before: { warnings: !warnings },
          after: { warnings },
        };
      });
      return wishesOf(member);
    }),

    /** Ends the member's sessions, passkey and invitation, and erases the e-mail address. Idempotent. */
    remove: memberMutation(MemberReference, MemberView, async ({ memberId }, actor) => {
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
      return view(member);
    }),

    acts: query(ListActs, z.array(AuditLogEntry), async ({ partnerId, ...page }) =>
      (await auditEntriesOf(partnerId, page)).map(seenByPartner).map(withoutInviter),
    ),
  });
}
