import type { MemberRole } from '../../../contracts/admin/members.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { ApiError } from '../../platform/errors.ts';
import { isMemberId } from './member-name.ts';
import type { Member } from './member-store.ts';

export const invitationLifetimeMs = 48 * 3_600_000;
/** The time that owners have to refuse an invitation by support, in milliseconds. */
export const heldMs = 24 * 3_600_000;

export const isByMember = ({ operatorId }: Pick<Actor, 'operatorId'>): boolean => isMemberId(operatorId);

/** Until when the member's invitation waits for an owner; undefined if it can be used. */
export function heldUntil({ invitation }: Pick<Member, 'invitation'>, now: number): Date | undefined {
  const until = invitation?.heldUntil;
  return until && until.getTime() > now ? until : undefined;
}

/** @throws ApiError `refused` while the member's invitation waits for an owner */
export function requireReleased(member: Pick<Member, 'invitation'>, now: number): void {
  const until = heldUntil(member, now);
  if (until)
    throw new ApiError('refused', {
      description: `Support made this invitation. It waits for an owner, who can confirm it in the portal, until ${until.toISOString()}`,
    });
}

interface Circumstances {
  actor: Actor;
  now: number;
  hasActiveOwner: boolean;
  /** The member with this address, if there is one. */
  before?: Pick<Member, 'status' | 'role'> | undefined;
}

/**
 * The times of a new invitation. Once a partner has an active owner, support could act in the name of an owner or a member by an
 * invitation of its own: it is held until an owner confirms it, or has had 24 hours to refuse it.
 */
export function invitationTimes(
  role: MemberRole,
  { actor, now, hasActiveOwner, before }: Circumstances,
): Omit<NonNullable<Member['invitation']>, 'hash'> {
  const isActive = before?.status === 'active';
  const isHeld = !isByMember(actor) && hasActiveOwner && (role === 'owner' || isActive);
  if (!isHeld) return { expiresAt: new Date(now + invitationLifetimeMs) };
  return {
    expiresAt: new Date(now + heldMs + invitationLifetimeMs),
    heldUntil: new Date(now + heldMs),
    ...(isActive ? { role } : {}),
  };
}
