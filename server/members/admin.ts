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
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import { viewAs } from '../platform/admin-api/view.ts';
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
    const { invitation } = member;
    const isInvitationValid = invitation && invitation.expiresAt.getTime() > clock.now();
    return viewAs(MemberView, {
      ...member,
      id: member._id,
      invitedUntil: isInvitationValid ? invitation.expiresAt : null,
    });
  }

  /** What the member wants to get by e-mail. */
  const wishesOf = ({ _id: memberId, warnings }: Member): MemberWishes => ({
    memberId,
    warnings: warnings ?? false,
  });

  return router({
    invite: mutation(InviteMember, InvitedMember, async (input, actor) => {
      if (!isOn) throw new ApiError('refused', { description: 'The portal is off: set SVC_PORTAL=on' });
      const { member, secret } = await members.invite(input, actor);
      return { ...view(member), link: linkOf(secret) };
    }),
    list: query(ListMembers, z.array(MemberView), async (input) => (await members.list(input)).map(view)),
    count: query(ListMembers.omit(pageFields), Total, (input) => members.count(input)),
    show: query(MemberReference, MemberView, async ({ memberId }) => view(await members.show(memberId))),
    setRole: mutation(SetMemberRole, MemberView, async (input, actor) =>
      view(await members.setRole(input, actor)),
    ),
    wishes: query(MemberReference, MemberWishes, async ({ memberId }) =>
      wishesOf(await members.show(memberId)),
    ),
    setWishes: mutation(SetMemberWishes, MemberWishes, async (input, actor) =>
      wishesOf(await members.setWishes(input, actor)),
    ),
    remove: mutation(MemberReference, MemberView, async ({ memberId }, actor) =>
      view(await members.remove(memberId, actor)),
    ),
    acts: query(ListActs, z.array(AuditLogEntry), async ({ partnerId, ...page }) =>
      (await auditEntriesOf(partnerId, page)).map(seenByPartner),
    ),
  });
}
