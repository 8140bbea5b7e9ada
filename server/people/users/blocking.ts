import type { AuditEntry } from '../../platform/database/audit/audit-entry.ts';
import type { PeopleContext } from '../context.ts';
import type { Enrollment } from '../enrollments/enrollment-store.ts';
import type { SnapshotInvalidation } from '../enrollments/snapshot-invalidation.ts';

/** Blocks an enrollment, and invalidates its unused codes. Idempotent. `entry` is the audit entry of an operator. */
export function createBlocking({ enrollments, clock }: PeopleContext, invalidate: SnapshotInvalidation) {
  return async function block(id: string, reason: string, entry?: AuditEntry): Promise<Enrollment> {
    const invalidateAt = new Date(clock.now());
    const blocked = await enrollments.block(id, { reason, at: invalidateAt, entry });
    await invalidate.enrollment({ ...blocked, invalidateAt });
    return blocked;
  };
}
export type Block = ReturnType<typeof createBlocking>;
