import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { Enrollment, EnrollmentStore } from '../enrollments/enrollment-store.ts';
import type { SnapshotInvalidation } from '../enrollments/snapshot-invalidation.ts';

interface Dependencies {
  enrollments: Pick<EnrollmentStore, 'block'>;
  invalidate: Pick<SnapshotInvalidation, 'enrollment'>;
  clock: { now(): number };
}

/** Blocks an enrollment, and invalidates its unused codes. Idempotent. `entry` is the audit entry of an operator. */
export function createBlocking({ enrollments, invalidate, clock }: Dependencies) {
  return async function block(id: string, reason: string, entry?: AuditEntry): Promise<Enrollment> {
    const invalidateAt = new Date(clock.now());
    const blocked = await enrollments.block(id, { reason, at: invalidateAt, entry });
    await invalidate.enrollment({ ...blocked, invalidateAt });
    return blocked;
  };
}
export type Block = ReturnType<typeof createBlocking>;
