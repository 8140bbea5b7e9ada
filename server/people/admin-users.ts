import { z } from 'zod';
import {
  ErasedUser,
  FindUser,
  FindUsers,
  FoundUser,
  HeldUser,
  HoldUser,
  ListedHold,
  ListHolds,
  PasskeyReference,
  ReleaseUser,
  RemovedPasskey,
  UserReference,
  UserView,
} from '../../contracts/admin/users.ts';
import type { ClaimName } from '../../contracts/claims.ts';
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import { viewAs } from '../platform/admin-api/view.ts';
import { withPartnerName } from '../platform/database/partner-names.ts';
import { requireFound } from '../platform/errors.ts';
import type { PeopleContext } from './context.ts';
import type { Erasure } from './erasure/erasure.ts';
import type { Holds } from './erasure/holds.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import { createUserSearch } from './users/find-users.ts';
import { claimKeptUntil } from './users/forgetting.ts';
import { isHeld } from './users/user.ts';
import { createFindUserId } from './users/user-id.ts';
import type { User } from './users/user-store.ts';
import { viewEnrollment } from './views.ts';

const userMutation = mutation({ target: 'userId', record: 'several' });

/** The parts of the feature that operators use for a user. */
export interface UserParts {
  passkeys: Passkeys;
  erasure: Erasure;
  holds: Holds;
}

/** The hold that keeps the records of a user; null without one. */
function viewHold(user: User, now: Date): UserView['hold'] {
  return isHeld(user, now) && user.hold ? viewAs(UserView.shape.hold.unwrap(), user.hold) : null;
}

const viewHeld = (user: User, now: number) => ({
  id: user._id,
  mode: user.mode,
  until: viewHold(user, new Date(now))?.until ?? null,
});

/** Makes the procedures that `svcadmin users` calls. */
export function createUserProcedures(context: PeopleContext, { passkeys, erasure, holds }: UserParts) {
  const { users, enrollments, sessions, isFresh, claimLifetime, clock, partnerNames } = context;

  const search = createUserSearch(context);

  const findUserId = createFindUserId({ enrollments, passkeys: context.passkeyStore });

  async function view(user: User): Promise<UserView> {
    const [enrolled, userSessions, userPasskeys] = await Promise.all([
      enrollments.ofUser(user._id),
      sessions.ofUser(user._id),
      passkeys.ofUser(user._id),
    ]);
    const now = clock.now();
    return {
      id: user._id,
      mode: user.mode,
      claims: Object.entries(user.claims).map(([name, claim]) => ({
        name: name as ClaimName,
        value: claim.value,
        evaluatedAt: claim.evaluatedAt.toISOString(),
        fresh: isFresh(name as ClaimName, claim, now),
        keptUntil: claimKeptUntil(user, claim, claimLifetime).toISOString(),
      })),
      enrollments: enrolled.map(({ _id, partnerId, clientId, sub, status }) => ({
        id: _id,
        partnerId,
        clientId,
        sub,
        status,
      })),
      passkeys: userPasskeys.map(({ _id, createdAt, lastUsedAt, synced }) => ({
        id: _id,
        createdAt: createdAt.toISOString(),
        lastUsedAt: lastUsedAt?.toISOString() ?? null,
        synced,
      })),
      sessions: userSessions.length,
      duplicate: user.duplicate ?? false,
      hold: viewHold(user, new Date(now)),
      createdAt: user.createdAt.toISOString(),
      keptUntil: user.purgeAt?.toISOString() ?? null,
    };
  }

  return router({
    show: query(FindUser, UserView, async (input, ctx) => {
      const id = await findUserId(input.user);
      const user = requireFound(id ? await users.find(id) : undefined, `No user ${input.user}`);
      await ctx.noteRead({ target: user._id, modes: [user.mode], reason: input.reason });
      return view(user);
    }),

    find: query(FindUsers, z.array(FoundUser), async (input, ctx) => {
      const found = await search(input);
      const users = new Set(found.map(({ userId }) => userId));
      const [onlyUser = null] = users.size === 1 ? users : [];
      await ctx.noteRead({
        // A customer of a shop may be several users. Then the entry names none of them.
        target: onlyUser,
        modes: found.map(({ mode }) => mode),
        reason: input.reason,
        counts: { users: users.size, enrollments: found.length },
      });
      const views = found.map((enrollment) => ({
        userId: enrollment.userId,
        ...viewEnrollment(enrollment),
      }));
      return withPartnerName(views, partnerNames);
    }),

    removePasskey: userMutation(PasskeyReference, RemovedPasskey, async ({ userId, passkeyId }, actor) => {
      await passkeys.remove(userId, passkeyId, actor);
      return { id: passkeyId, userId };
    }),

    hold: userMutation(HoldUser, HeldUser, async (input, actor) =>
      viewHeld(await holds.hold(input, actor), clock.now()),
    ),

    holds: query(ListHolds, z.array(ListedHold), async ({ limit, after: last }) => {
      const user = last === undefined ? undefined : await users.find(last);
      const after =
        last === undefined ? undefined : requireFound(user?.hold && user, `No hold of user ${last}`);
      const found = await users.listHeld(new Date(clock.now()), { limit, after });
      return found.flatMap(({ _id: id, mode, hold }) =>
        hold ? [viewAs(ListedHold, { ...hold, id, mode })] : [],
      );
    }),

    release: userMutation(ReleaseUser, HeldUser, async (input, actor) =>
      viewHeld(await holds.release(input, actor), clock.now()),
    ),

    erase: userMutation(UserReference, ErasedUser, async ({ userId }, actor) => {
      const erased = requireFound(await erasure.erase(userId, actor), `No user ${userId}`);
      return { id: userId, ...erased };
    }),
  });
}
