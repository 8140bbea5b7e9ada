import type { Clock } from '../../platform/clock.ts';
import { ApiError } from '../../platform/errors.ts';
import type { Member } from './member-store.ts';
import type { MembersStores } from './store.ts';

/** A permission that was not used keeps others waiting for this time, in milliseconds. A crash can leave one. */
const unusedMs = 10_000;

const lastOwnerError = ({ _id, partnerId }: Member) =>
  new ApiError('refused', {
    description: `${_id} is the only active owner of ${partnerId}. Invite another one, who accepts, first: svcadmin members invite ${partnerId} EMAIL --role owner`,
  });

/** Whether the member is an owner who can sign in. */
export const isActiveOwner = ({ role, status }: { role?: string | undefined; status?: string | undefined }) =>
  role === 'owner' && status === 'active';

/**
 * Keeps at least one active owner for each partner. A change that ends an owner's role needs a permission, and a partner has one
 * valid permission at a time: it names the member's revision, so it is over when that member was changed, by this call or another.
 */
export function createOwners(
  { members, ownerEnds }: Pick<MembersStores, 'members' | 'ownerEnds'>,
  clock: Pick<Clock, 'now'>,
) {
  /** Makes sure that the last permission is over. @throws ApiError `conflict` if another call may still use it */
  async function requireOver(last: { memberId: string; memberRevision: number; at: Date }): Promise<void> {
    const other = await members.find(last.memberId);
    if (other?.revision !== last.memberRevision) return;
    if (last.at.getTime() + unusedMs > clock.now())
      throw new ApiError('conflict', { description: `${last.memberId} is being changed; try again` });
    // A new revision: the call that got the permission cannot use it any more.
    await members.addRevision(other);
  }

  return {
    /**
     * Permits that this revision of an active owner stops being one.
     * @throws ApiError `refused` if there is no other active owner, `conflict` during another such change
     */
    async permitEnd(member: Member): Promise<void> {
      const { _id: memberId, partnerId, revision: memberRevision } = member;
      const last = await ownerEnds.find(partnerId);
      if (last?.memberId && last.memberId !== memberId) await requireOver(last);
      // Read after the last permission is over: from here to `replace`, no owner of the partner can end.
      if (!(await members.hasActiveOwner(partnerId, memberId))) throw lastOwnerError(member);
      const next = { _id: partnerId, memberId, memberRevision, at: new Date(clock.now()) };
      if (!(await ownerEnds.replace(last, next)))
        throw new ApiError('conflict', { description: 'Another owner is being changed; try again' });
    },
  };
}
