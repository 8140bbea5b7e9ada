import { type Actor, auditEntry } from '../../platform/database/audit-entry.ts';
import type { SessionStore } from '../session/session-store.ts';
import { type Enrollment, type EnrollmentStore, isWithdrawn } from './enrollment-store.ts';
import type { Traces } from './erasure.ts';
import type { SnapshotInvalidation } from './snapshot-invalidation.ts';

interface EndingDependencies {
  enrollments: Pick<EnrollmentStore, 'find'>;
  sessions: Pick<SessionStore, 'ofUser'>;
  /** Ends accesses that were charged by a time. Idempotent. */
  endAccesses: (traces: Pick<Traces, 'codes' | 'enrollments'>, chargedBy: Date) => Promise<void>;
}

interface Dependencies {
  enrollments: Pick<EnrollmentStore, 'ofUser' | 'withdraw'>;
  invalidate: Pick<SnapshotInvalidation, 'enrollment'>;
  clock: { now(): number };
}

/** A charge that was under way at a withdrawal has a time by then. */
const underWayMs = 10_000;

/** What a partner has bought of an enrollment for a consent that is withdrawn now. */
export function createEndingOfAccesses({ enrollments, sessions, endAccesses }: EndingDependencies) {
  return async ({ _id, userId, withdrawnAt }: { _id: string; userId: string; withdrawnAt: Date }) => {
    const [enrollment, all] = await Promise.all([enrollments.find(_id), sessions.ofUser(userId)]);
    if (!enrollment) return;
    const { partnerId, mode } = enrollment;
    const before = all.filter(
      (session) => session.enrollmentId === _id && isWithdrawn({ withdrawnAt }, session),
    );
    await endAccesses(
      {
        codes: before.flatMap(({ code }) => (code ? { partnerId, mode, codeHash: code.hash } : [])),
        enrollments: [{ partnerId, mode, enrollmentId: _id }],
      },
      new Date(withdrawnAt.getTime() + underWayMs),
    );
  };
}

/**
 * Ends a user's consent with all clients of a partner: the partner can read nothing more, and codes and accesses of before are
 * of no use. The next session asks again. Idempotent.
 */
export function createWithdrawal({ enrollments, invalidate, clock }: Dependencies) {
  /** @returns the enrollments whose consent was ended */
  return async function withdraw(userId: string, partnerId: string, actor: Actor): Promise<Enrollment[]> {
    const at = new Date(clock.now());
    const theirs = (await enrollments.ofUser(userId)).filter((one) => one.partnerId === partnerId);
    const ended = await Promise.all(
      theirs.map(async (enrollment) => {
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
