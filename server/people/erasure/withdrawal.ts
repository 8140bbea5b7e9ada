import { type Actor, auditEntry } from '../../platform/database/audit/audit-entry.ts';
import { codesOf } from '../../sessions/session-store.ts';
import type { PeopleContext } from '../context.ts';
import { type Enrollment, isWithdrawn } from '../enrollments/enrollment-store.ts';
import type { SnapshotInvalidation } from '../enrollments/snapshot-invalidation.ts';

/** An exchange that is under way at a withdrawal may write its charge later, but at most this much later. */
const underWayMs = 10_000;

/**
 * Returns a function that ends the accesses that a partner bought under a withdrawn consent. It finds them by the codes of the
 * sessions with that consent, and by the enrollment. Accesses that were charged more than `underWayMs` after the withdrawal stay.
 */
export function createEndingOfAccesses({ enrollments, sessions, endAccesses }: PeopleContext) {
  return async ({ _id, userId, withdrawnAt }: { _id: string; userId: string; withdrawnAt: Date }) => {
    const [enrollment, sessionsOfUser] = await Promise.all([enrollments.find(_id), sessions.ofUser(userId)]);
    // The user was erased after the withdrawal, and the erasure removes all accesses.
    if (!enrollment) return;
    const { partnerId, mode } = enrollment;
    const withdrawnSessions = sessionsOfUser.filter(
      (session) => session.enrollmentId === _id && isWithdrawn({ withdrawnAt }, session),
    );
    await endAccesses(
      {
        codes: codesOf(withdrawnSessions),
        enrollments: [{ partnerId, mode, enrollmentId: _id }],
      },
      new Date(withdrawnAt.getTime() + underWayMs),
    );
  };
}

/**
 * Ends a user's consent with all clients of a partner: earlier codes and accesses become invalid, and the partner can
 * read nothing more. The next session asks for consent again. Idempotent.
 */
export function createWithdrawal({ enrollments, clock }: PeopleContext, invalidate: SnapshotInvalidation) {
  /** @returns the enrollments whose consent was ended */
  return async function withdraw(userId: string, partnerId: string, actor: Actor): Promise<Enrollment[]> {
    const at = new Date(clock.now());
    const enrolled = await enrollments.ofUser(userId);
    const withPartner = enrolled.filter((enrollment) => enrollment.partnerId === partnerId);
    const ended = await Promise.all(
      withPartner.map(async (enrollment) => {
        const { _id, consentedClaims } = enrollment;
        const difference = { before: { consentedClaims }, after: { consentedClaims: [] } };
        const entry = auditEntry(actor, { id: _id, at: at.getTime() }, difference);
        const withdrawn = await enrollments.withdraw(enrollment, at, entry);
        if (withdrawn) await invalidate.enrollment({ ...withdrawn, invalidateAt: at });
        return withdrawn;
      }),
    );
    return ended.filter((enrollment) => enrollment !== undefined);
  };
}
export type Withdraw = ReturnType<typeof createWithdrawal>;
