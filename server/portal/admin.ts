import { z } from 'zod';
import { AuditLogEntry } from '../../contracts/admin/audit-log.ts';
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
} from '../../contracts/admin/members.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { masked } from '../platform/admin-api/personal-data.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import { ApiError } from '../platform/errors.ts';
import type { Member } from './member-store.ts';
import { isMemberId, type Members } from './members.ts';

/** Returns the audit entries about a partner, by members and operators, newest first. */
export type AuditEntriesOf = (
  partnerId: string,
  page: { limit: number; after?: string | undefined },
) => Promise<AuditLogEntry[]>;

interface Dependencies {
  /** Whether SVC_PORTAL is on. */
  isOn: boolean;
  members: Members;
  /** The link of an invitation, made from its secret. */
  linkOf: (secret: string) => string;
  clock: { now(): number };
  auditEntriesOf: AuditEntriesOf;
}

/** An audit entry as the partner may see it: without the name, the address and the input of an operator. */
const seenByPartner = (entry: AuditLogEntry): AuditLogEntry =>
  isMemberId(entry.operatorId)
    ? entry
    : { ...entry, operatorId: 'support', operatorName: 'support', address: masked, input: null };

/** Makes the procedures of `svcadmin members`. */
export function createMemberProcedures({ isOn, members, linkOf, clock, auditEntriesOf }: Dependencies) {
  function view(member: Member): MemberView {
    const { _id: id, partnerId, email = null, role, status, invitedBy, invitation, createdAt } = member;
    const isInvitationValid = invitation && invitation.expiresAt.getTime() > clock.now();
    return {
      id,
      partnerId,
      email,
      role,
      status,
      invitedBy,
      invitedUntil: isInvitationValid ? invitation.expiresAt.toISOString() : null,
      lastSignInAt: member.lastSignInAt?.toISOString() ?? null,
      createdAt: createdAt.toISOString(),
      removedAt: member.removedAt?.toISOString() ?? null,
    };
  }

  /** What the member wants to get by e-mail. */
  const wishesOf = ({ _id: memberId, warnings }: Member): MemberWishes => ({
    memberId,
    warnings: warnings ?? false,
  });

  return router({
    invite: procedure
      .input(InviteMember)
      .output(InvitedMember)
      .mutation(async ({ input, ctx }) => {
        if (!isOn) throw new ApiError('refused', { description: 'The portal is off: set SVC_PORTAL=on' });
        const { member, secret } = await members.invite(input, ctx.actor);
        return { ...view(member), link: linkOf(secret) };
      }),
    list: procedure
      .input(ListMembers)
      .output(z.array(MemberView))
      .query(async ({ input }) => (await members.list(input)).map(view)),
    count: procedure
      .input(ListMembers.omit(pageFields))
      .output(Total)
      .query(({ input }) => members.count(input)),
    show: procedure
      .input(MemberReference)
      .output(MemberView)
      .query(async ({ input }) => view(await members.show(input.memberId))),
    setRole: procedure
      .input(SetMemberRole)
      .output(MemberView)
      .mutation(async ({ input, ctx }) => view(await members.setRole(input, ctx.actor))),
    wishes: procedure
      .input(MemberReference)
      .output(MemberWishes)
      .query(async ({ input }) => wishesOf(await members.show(input.memberId))),
    setWishes: procedure
      .input(SetMemberWishes)
      .output(MemberWishes)
      .mutation(async ({ input, ctx }) => wishesOf(await members.setWishes(input, ctx.actor))),
    remove: procedure
      .input(MemberReference)
      .output(MemberView)
      .mutation(async ({ input, ctx }) => view(await members.remove(input.memberId, ctx.actor))),
    acts: procedure
      .input(ListActs)
      .output(z.array(AuditLogEntry))
      .query(async ({ input: { partnerId, ...page } }) =>
        (await auditEntriesOf(partnerId, page)).map(seenByPartner),
      ),
  });
}
