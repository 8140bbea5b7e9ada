import type { HoldUser } from '../../../contracts/admin/users.ts';
import { longestHoldDays } from '../../../contracts/retention.ts';
import { distinct } from '../../platform/batching/distinct.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import type { NewExpiry } from '../../platform/database/expiry.ts';
import type { Read } from '../../platform/database/reads/joint-reads.ts';
import { ApiError, requireFound } from '../../platform/errors.ts';
import type { PeopleContext } from '../context.ts';
import { isHeld, type User } from '../users/user.ts';
import { userReads } from '../users/user-store.ts';

const day = 86_400_000;
/** How often records that were made during a hold are found. The shortest retention of them is a day. */
export const heldEveryMs = 3_600_000;
/** When the held records go after a release. Without a hold, most of them would be kept as long. */
export const releasedMs = 30 * day;
const perSweep = 100;

/**
 * Holds the records of users for a legal reason: user, enrollments, passkeys, sessions, events and deliveries. Until the end of
 * the hold, `UserStore` erases no held user and forgets no claim, and this module moves the expiry of the records behind the end.
 */
export function createHolds(context: PeopleContext) {
  const { users, enrollments, passkeyStore, sessions, moveEvents, clock } = context;

  async function move(user: User, expiry: NewExpiry): Promise<void> {
    const { _id } = user;
    const [enrolled, userSessions] = await Promise.all([enrollments.ofUser(_id), sessions.ofUser(_id)]);
    const stores = [users, enrollments, passkeyStore, sessions];
    await Promise.all(stores.map((store) => store.moveExpiry(_id, expiry)));
    await moveEvents(distinct([...enrolled, ...userSessions].map(({ sub }) => sub)), expiry);
  }

  const requireUser = async (userId: string): Promise<User> =>
    requireFound(await users.find(userId), `No user ${userId}`);

  /** @throws ApiError `refused` for an end that has passed, or is too far ahead */
  function requireEnd(until: Date, now: Date): void {
    const latest = new Date(now.getTime() + longestHoldDays * day);
    if (until > now && until <= latest) return;
    const description = `A hold ends between now and ${latest.toISOString()}; a later hold replaces it`;
    throw new ApiError('refused', { description });
  }

  const movedBefore = (now: Date) => new Date(now.getTime() - heldEveryMs);

  return {
    /** The look of the sweep. */
    read(): Read {
      const now = new Date(clock.now());
      return userReads.held(movedBefore(now), now);
    },

    /** Moves the expiry of records that were made since, and repeats moves that were interrupted. */
    async sweep(): Promise<void> {
      const now = new Date(clock.now());
      const due = await users.heldUsers(now, movedBefore(now), perSweep);
      for (const user of due) {
        if (user.hold) await move(user, { to: user.hold.until });
        await users.noteHeld(user._id, now);
      }
    },

    /** Holds the records of a user, or replaces the hold. @returns the user. @throws ApiError `not_found`, `refused` */
    async hold({ userId, until: untilText, reason }: HoldUser, actor: Actor): Promise<User> {
      const [now, until] = [new Date(clock.now()), new Date(untilText)];
      requireEnd(until, now);
      const { hold: previous } = await requireUser(userId);
      endDryRun(actor);
      const after = { until, reason };
      const before = { until: previous?.until ?? null };
      const entry = auditEntry(actor, { id: userId, at: now.getTime() }, { before, after });
      const { operatorId, operatorName } = actor;
      const hold = { ...after, since: now, operatorId, operatorName };
      await users.setHold(userId, hold, entry);
      const user = await requireUser(userId);
      // A replaced hold may have ended later.
      if (previous && previous.until > until) await move(user, { from: previous.until, to: until });
      await move(user, { to: until });
      return user;
    },

    /**
     * Ends a hold early. Its records go within 30 days, or when they would have gone later. A repeated call changes nothing.
     * @returns the user. @throws ApiError `not_found`
     */
    async release({ userId, reason }: { userId: string; reason: string }, actor: Actor): Promise<User> {
      const now = new Date(clock.now());
      const user = await requireUser(userId);
      const { hold } = user;
      const isChange = hold !== undefined && isHeld(user, now);
      endDryRun(actor, { changes: isChange });
      if (!isChange) return user;
      const difference = { before: { until: hold.until }, after: { until: null, reason } };
      await users.setHold(
        userId,
        undefined,
        auditEntry(actor, { id: userId, at: now.getTime() }, difference),
      );
      const soon = new Date(Math.min(now.getTime() + releasedMs, hold.until.getTime()));
      await move(user, { from: hold.until, to: soon });
      return requireUser(userId);
    },
  };
}
export type Holds = ReturnType<typeof createHolds>;
