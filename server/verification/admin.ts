import { z } from 'zod';
import {
  BlockEnrollment,
  EnrollmentReference,
  EnrollmentView,
  ListEnrollments,
  ReadEnrollment,
} from '../../contracts/admin/enrollments.ts';
import { pageFields, Total } from '../../contracts/admin/references.ts';
import { SessionReference, SessionView } from '../../contracts/admin/sessions.ts';
import { maskSubject } from '../platform/admin-api/personal-data.ts';
import { mergeRouters, procedure, router } from '../platform/admin-api/procedures.ts';
import { type Actor, type AuditEntry, auditEntry } from '../platform/database/audit-entry.ts';
import type { PartnerNames } from '../platform/database/partner-names.ts';
import { ApiError } from '../platform/errors.ts';
import { createSessionListProcedures } from './admin-session-list.ts';
import { createSourceProcedures } from './admin-sources.ts';
import { createUserProcedures } from './admin-users.ts';
import type { Passkeys } from './passkeys/passkeys.ts';
import type { Block } from './people/blocking.ts';
import type { Enrollment, EnrollmentStore } from './people/enrollment-store.ts';
import type { Erasure } from './people/erasure.ts';
import type { IsFresh } from './people/freshness.ts';
import type { UserStore } from './people/user-store.ts';
import type { CodeOfSession, SessionStore } from './session/session-store.ts';
import type { SourceOverview } from './sources/overview.ts';
import { type Charge, viewEnrollment, viewSession } from './views.ts';

interface Dependencies {
  sessions: Pick<SessionStore, 'find' | 'ofUser' | 'list' | 'count'>;
  enrollments: Omit<EnrollmentStore, 'block'>;
  block: Block;
  users: Pick<UserStore, 'find'>;
  passkeys: Pick<Passkeys, 'ofUser' | 'userOf' | 'remove'>;
  erasure: Erasure;
  isFresh: IsFresh;
  /** The keyed hash of a shop's customer id. */
  customerHash: (customer: { clientId: string; shop: string; customerId: string }) => string;
  /** Returns the charge of a code's exchange; undefined if the code was not exchanged. */
  chargeOf: (code: CodeOfSession) => Promise<Charge | undefined>;
  /** Returns the hashes of the codes that were exchanged. */
  chargedCodes: (codes: readonly CodeOfSession[]) => Promise<Set<string>>;
  sources: SourceOverview;
  clock: { now(): number };
  partnerNames: PartnerNames;
}

/** Makes the procedures that `svcadmin sessions`, `enrollments` and `users` call. */
export function createVerificationProcedures(dependencies: Dependencies) {
  const { sessions, chargeOf, clock } = dependencies;
  return {
    users: createUserProcedures(dependencies),
    sources: createSourceProcedures(dependencies.sources),
    sessions: mergeRouters(
      createSessionListProcedures(dependencies),
      router({
        show: procedure
          .input(SessionReference)
          .output(SessionView)
          .query(async ({ input: { sessionId }, ctx }) => {
            const session = await sessions.find(sessionId);
            if (!session) throw new ApiError('not_found', { description: `No session ${sessionId}` });
            const { partnerId, mode, code } = session;
            const charge = code && (await chargeOf({ partnerId, mode, codeHash: code.hash }));
            return maskSubject(ctx.operator.role, viewSession(session, { charge, now: clock.now() }));
          }),
      }),
    ),
    enrollments: enrollmentProcedures(dependencies),
  };
}

function enrollmentProcedures({
  enrollments,
  block,
  clock,
}: Pick<Dependencies, 'enrollments' | 'block' | 'clock'>) {
  async function requireEnrollment(id: string): Promise<Enrollment> {
    const enrollment = await enrollments.find(id);
    if (!enrollment) throw new ApiError('not_found', { description: `No enrollment ${id}` });
    return enrollment;
  }

  /** The audit entry of a change of status. Its id is made of request and enrollment, so a repeated write adds no second. */
  function entryOf(actor: Actor, { _id, status }: Enrollment, after: Record<string, unknown>): AuditEntry {
    return auditEntry(actor, { id: _id, at: clock.now() }, { before: { status }, after });
  }

  return router({
    list: procedure
      .input(ListEnrollments)
      .output(z.array(EnrollmentView))
      .query(async ({ input: { partnerId, sub, reason, limit, after }, ctx }) => {
        const last = after === undefined ? undefined : await requireEnrollment(after);
        const found = await enrollments.list({ partnerId, ...(sub ? { sub } : {}) }, { limit, after: last });
        const modes = found.map(({ mode }) => mode);
        await ctx.noteRead({ target: partnerId, modes, reason, counts: { enrollments: found.length } });
        return found.map((enrollment) => maskSubject(ctx.operator.role, viewEnrollment(enrollment)));
      }),

    // A count shows no record of a person, so it needs no reason and is not noted in the audit log.
    count: procedure
      .input(ListEnrollments.omit({ ...pageFields, reason: true }))
      .output(Total)
      .query(({ input: { partnerId, sub } }) => enrollments.count({ partnerId, ...(sub ? { sub } : {}) })),

    show: procedure
      .input(ReadEnrollment)
      .output(EnrollmentView)
      .query(async ({ input: { enrollmentId, reason }, ctx }) => {
        const enrollment = await requireEnrollment(enrollmentId);
        await ctx.noteRead({ target: enrollmentId, modes: [enrollment.mode], reason });
        return maskSubject(ctx.operator.role, viewEnrollment(enrollment));
      }),

    block: procedure
      .input(BlockEnrollment)
      .output(EnrollmentView)
      .mutation(async ({ input: { enrollmentId, reason }, ctx }) => {
        const current = await requireEnrollment(enrollmentId);
        const entry = entryOf(ctx.actor, current, { status: 'blocked', blockReason: reason });
        return viewEnrollment(await block(enrollmentId, reason, entry));
      }),

    unblock: procedure
      .input(EnrollmentReference)
      .output(EnrollmentView)
      .mutation(async ({ input: { enrollmentId }, ctx }) => {
        const current = await requireEnrollment(enrollmentId);
        if (current.status === 'active') return viewEnrollment(current);
        const entry = entryOf(ctx.actor, current, { status: 'active' });
        return viewEnrollment(await enrollments.unblock(enrollmentId, entry));
      }),
  });
}
