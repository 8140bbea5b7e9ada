import type { MemberRole } from '../../../contracts/admin/members.ts';
import { identifierKind } from '../../../contracts/identifiers.ts';

/** A member's name in the audit log. It is not the e-mail address, because audit entries are never deleted. */
export const memberName = (role: MemberRole): string => `member (${role})`;

export const isMemberId = (actorId: string): boolean => identifierKind(actorId) === 'member';
