import { z } from 'zod';
import { DateTime } from '../identifiers.ts';
import { page, reference } from './references.ts';

/** `owner` may do everything, `developer` everything but money and members. `finance` sees wallets, `viewer` reads. */
export const MemberRole = z.enum(['owner', 'developer', 'finance', 'viewer']);
export type MemberRole = z.infer<typeof MemberRole>;
/** The status of a member. `invited` members have no passkey yet. */
export const MemberStatus = z.enum(['invited', 'active', 'removed']);
export type MemberStatus = z.infer<typeof MemberStatus>;

/** A person of a partner who may sign in to the portal. */
export const MemberView = z.strictObject({
  id: z.string(),
  partnerId: z.string(),
  /** The e-mail address. Null after the member was removed. */
  email: z.string().nullable(),
  role: MemberRole,
  status: MemberStatus,
  /** The operator or the member who invited them. */
  invitedBy: z.string(),
  /** Until when the invitation can be used. Null if there is none. */
  invitedUntil: DateTime.nullable(),
  /** Until when an invitation by support waits for an owner, who can confirm or refuse it. Null if it does not wait. */
  heldUntil: DateTime.nullable(),
  /** The role that an active member gets with a waiting invitation. */
  invitedAs: MemberRole.nullable(),
  lastSignInAt: DateTime.nullable(),
  /** The number of passkeys with which the member signs in. */
  passkeys: z.number().int(),
  createdAt: DateTime,
  removedAt: DateTime.nullable(),
});
export type MemberView = z.infer<typeof MemberView>;

/** The only response that contains the link of an invitation. */
export const InvitedMember = z.strictObject({ ...MemberView.shape, link: z.string() });

/** An e-mail address, in lower case. */
export const Email = z
  .string()
  .trim()
  .toLowerCase()
  .max(254)
  .pipe(z.email({ error: 'expected an e-mail address' }));

export const InviteMember = z.strictObject({
  partnerId: reference('partner'),
  email: Email,
  role: MemberRole,
});
export type InviteMember = z.infer<typeof InviteMember>;

export const MemberReference = z.strictObject({ memberId: reference('member') });
export const SetMemberRole = z.strictObject({ memberId: reference('member'), role: MemberRole });
export type SetMemberRole = z.infer<typeof SetMemberRole>;
/** Whether a member wants e-mails about warnings of the partner's live mode. */
export const MemberWishes = z.strictObject({ memberId: z.string(), warnings: z.boolean() });
export type MemberWishes = z.infer<typeof MemberWishes>;
export const SetMemberWishes = z.strictObject({ memberId: reference('member'), warnings: z.boolean() });
export type SetMemberWishes = z.infer<typeof SetMemberWishes>;
export const ListMembers = z.strictObject({
  partnerId: reference('partner'),
  status: MemberStatus.optional(),
  ...page,
});
export type ListMembers = z.infer<typeof ListMembers>;

/** Lists the actions of the members of a partner. */
export const ListActs = z.strictObject({ partnerId: reference('partner'), ...page });
