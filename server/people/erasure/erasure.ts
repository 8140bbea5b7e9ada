import { distinct } from '../../platform/batching/distinct.ts';
import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { Sweep } from '../../platform/database/event-draft.ts';
import { codesOf } from '../../sessions/session-store.ts';
import type { PeopleContext } from '../context.ts';
import { type SnapshotInvalidation, secondLookAfterMs } from '../enrollments/snapshot-invalidation.ts';
import { userReads } from '../users/user-store.ts';

export interface Erased {
  enrollments: number;
  sessions: number;
  /** Access tokens with their claims. */
  accesses: number;
  events: number;
}

const perSweep = 100;

/**
 * Erases a user: claims, identity, enrollments, and the user's data in tokens and events. The ledger stays, because it
 * names charges and never users. The sweep erases again what was written during the first pass, then removes the last
 * references to the user. It also finishes an erasure that a crash has interrupted.
 */
export function createErasure(context: PeopleContext, invalidate: SnapshotInvalidation) {
  const { users, enrollments, sessions, passkeyStore, eraseElsewhere, clock } = context;
  /**
   * Erases the data of a user. Enrollments and sessions name the data that other features keep about the user. So that
   * data goes first: after an interruption, a repeated run still finds it.
   */
  async function eraseData(userId: string): Promise<Erased> {
    await passkeyStore.removeOfUser(userId);
    const [enrolled, userSessions] = await Promise.all([enrollments.ofUser(userId), sessions.ofUser(userId)]);
    const elsewhere = await eraseElsewhere({
      subs: distinct([...enrolled, ...userSessions].map(({ sub }) => sub)),
      enrollments: [
        // Sessions name the same enrollments, but an earlier run may have removed some of them.
        ...enrolled.map(({ partnerId, mode, _id }) => ({ partnerId, mode, enrollmentId: _id })),
        ...userSessions.flatMap(({ partnerId, mode, enrollmentId }) =>
          enrollmentId === undefined ? [] : { partnerId, mode, enrollmentId },
        ),
      ],
      codes: codesOf(userSessions),
      sessionIds: userSessions.map(({ _id }) => _id),
    });
    const enrollmentIds = enrolled.map(({ _id }) => _id);
    await Promise.all([enrollments.remove(enrollmentIds), sessions.forgetCarried(userId)]);
    return { enrollments: enrolled.length, sessions: userSessions.length, ...elsewhere };
  }

  const erasedBefore = () => new Date(clock.now() - secondLookAfterMs);
  const sweep: Sweep = {
    name: 'erased users',
    look: () => ({ reads: [userReads.erased(erasedBefore())] }),
    async sweep() {
      const due = await users.erasedBefore(erasedBefore(), perSweep);
      for (const userId of due) {
        await eraseData(userId);
        // Some enrollments wait until their audit entries are in the audit log.
        if ((await enrollments.ofUser(userId)).length > 0) continue;
        await sessions.forgetUser(userId);
        await users.remove(userId);
      }
    },
  };

  return {
    sweep,

    /** @returns how much was erased; undefined if the user does not exist, or was erased before */
    async erase(userId: string, actor: Actor): Promise<Erased | undefined> {
      const at = new Date(clock.now());
      const entry = auditEntry(actor, { id: userId, at: at.getTime() }, {});
      if (!(await users.erase(userId, at, entry))) return undefined;
      await invalidate.user({ _id: userId, invalidateAt: at, erasedAt: at });
      return eraseData(userId);
    },
  };
}
export type Erasure = ReturnType<typeof createErasure>;
