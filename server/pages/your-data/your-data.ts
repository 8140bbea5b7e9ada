import { isClaimName } from '../../../contracts/claims.ts';
import type { Enrollment } from '../../people/enrollments/enrollment-store.ts';
import type { Erasure } from '../../people/erasure/erasure.ts';
import type { Withdraw } from '../../people/erasure/withdrawal.ts';
import type { Passkeys } from '../../people/passkeys/passkeys.ts';
import { isHeld, type User } from '../../people/users/user.ts';
import { groupBy } from '../../platform/batching/group-by.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { ApiError } from '../../platform/errors.ts';
import { codesOf } from '../../sessions/session-store.ts';
import type { PagesContext, SharedOnce } from '../context.ts';

/** The request of a user's action, for the audit log. */
export type UserCall = Pick<Actor, 'requestId'>;

/** The audit log is kept for ever, so it names the user only by the id, and without an IP address. */
const actorOf = (userId: string, action: string, { requestId }: UserCall): Actor => ({
  operatorId: userId,
  operatorName: 'user',
  action,
  requestId,
  address: '',
});

export function createYourData(
  { enrollments, sessions, directory, sharedOf, record, clock }: PagesContext,
  { passkeys, withdraw, erasure }: { passkeys: Passkeys; withdraw: Withdraw; erasure: Erasure },
) {
  /** What the user shares with the client of an enrollment, and what this client has read. */
  async function clientOf(enrollment: Enrollment, shared: readonly SharedOnce[]) {
    const { _id, clientId, partnerId, consentedClaims, createdAt, withdrawnAt } = enrollment;
    const { client: settings, partner } = (await directory.client(clientId)) ?? {};
    const newestFirst = shared
      .filter(({ enrollmentId }) => enrollmentId === _id)
      .sort((one, other) => other.at.getTime() - one.at.getTime());
    const client = {
      name: settings?.brandName ?? partner?.name ?? clientId,
      // The claims that the client may read now.
      claims: consentedClaims,
      since: createdAt,
      withdrawnAt,
      shared: newestFirst.map(({ at, claims }) => ({ at, claims: claims.filter(isClaimName) })),
    };
    return { partnerId, partnerName: partner?.name ?? partnerId, client };
  }

  async function partnersOf(userId: string) {
    const [enrolled, userSessions] = await Promise.all([enrollments.ofUser(userId), sessions.ofUser(userId)]);
    const shared = await sharedOf({
      codes: codesOf(userSessions),
      enrollments: enrolled.map(({ _id, partnerId, mode }) => ({ partnerId, mode, enrollmentId: _id })),
    });
    const found = await Promise.all(enrolled.map((enrollment) => clientOf(enrollment, shared)));
    return [...groupBy(found, ({ partnerId }) => partnerId)].map(([partnerId, inPartner]) => ({
      partnerId,
      name: inPartner[0].partnerName,
      canRead: inPartner.some(({ client }) => client.claims.length > 0),
      clients: inPartner.map(({ client }) => client),
    }));
  }

  return {
    async of({ _id }: User) {
      const [partners, userPasskeys] = await Promise.all([partnersOf(_id), passkeys.ofUser(_id)]);
      return { partners, passkeys: userPasskeys };
    },

    /** Ends the consent with all clients of a partner. @throws ApiError `route_not_found` for one that the user does not know */
    async stopSharing({ _id }: User, partnerId: string, call: UserCall): Promise<void> {
      const ended = await withdraw(_id, partnerId, actorOf(_id, 'users.stopSharing', call));
      if (ended.length === 0) throw new ApiError('route_not_found');
    },

    /** Removes a passkey, after the audit entry is stored: without an entry nothing is removed. Idempotent. */
    async removePasskey({ _id }: User, passkeyId: string, call: UserCall): Promise<void> {
      if (!(await passkeys.ofUser(_id)).some((passkey) => passkey._id === passkeyId)) return;
      const actor = actorOf(_id, 'users.removePasskey', call);
      const at = new Date(clock.now());
      await record([{ ...actor, id: `${call.requestId}:${_id}`, at, target: _id, before: { passkeyId } }]);
      await passkeys.remove(_id, passkeyId, actor);
    },

    /** Whether a legal hold keeps the records of the user. */
    isHeld: (user: User): boolean => isHeld(user, new Date(clock.now())),

    /** Erases the user, as `svcadmin users erase` does. Idempotent. */
    async erase({ _id }: User, call: UserCall): Promise<void> {
      await erasure.erase(_id, actorOf(_id, 'users.erase', call));
    },
  };
}
export type YourDataOfUser = ReturnType<typeof createYourData>;
/** The data of a user besides the user's own record. */
export type YourData = Awaited<ReturnType<YourDataOfUser['of']>>;
export type PartnerShare = YourData['partners'][number];
