import type { AuditEntry } from '../../platform/audit-entry.ts';
import type { SessionStore } from '../session-store.ts';
import type { Enrollment, EnrollmentStore } from './enrollment-store.ts';

interface Dependencies {
  enrollments: Pick<EnrollmentStore, 'block'>;
  sessions: Pick<SessionStore, 'revise'>;
  clock: { now(): number };
}

/** Blocks an enrollment, and with it the codes that are out. Twice is once; `entry` where an operator does it. */
export function createBlocking({ enrollments, sessions, clock }: Dependencies) {
  return async function block(id: string, reason: string, entry?: AuditEntry): Promise<Enrollment> {
    const blocked = await enrollments.block(id, reason, entry);
    const { userId } = blocked;
    await sessions.revise({ userId, enrollmentId: id }, new Date(clock.now()), 'enrollment blocked');
    return blocked;
  };
}
export type Block = ReturnType<typeof createBlocking>;
