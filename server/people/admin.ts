import { z } from 'zod';
import {
  BlockEnrollment,
  EnrollmentReference,
  EnrollmentView,
  ListEnrollments,
  ListedEnrollment,
  ReadEnrollment,
} from '../../contracts/admin/enrollments.ts';
import { pageFields, Total, type Unpaged } from '../../contracts/admin/references.ts';
import { maskSubject } from '../platform/admin-api/personal-data.ts';
import { mutation, query, router } from '../platform/admin-api/procedures.ts';
import { type Actor, type AuditEntry, auditEntry } from '../platform/database/audit/audit-entry.ts';
import { endDryRun } from '../platform/database/audit/dry-run.ts';
import { withPartnerName } from '../platform/database/partner-names.ts';
import { givenFields } from '../platform/database/reads/look-through.ts';
import { ApiError, requireFound } from '../platform/errors.ts';
import { createSourceProcedures } from '../sessions/sources/admin-sources.ts';
import type { SourceOverview } from '../sessions/sources/overview.ts';
import { createSessionProcedures } from './admin-sessions.ts';
import { createUserProcedures, type UserParts } from './admin-users.ts';
import type { PeopleContext } from './context.ts';
import type { Enrollment } from './enrollments/enrollment-store.ts';
import type { Block } from './users/blocking.ts';
import { viewEnrollment } from './views.ts';

const enrollmentMutation = mutation({ target: 'enrollmentId', record: 'several' });

/** Makes the procedures that `svcadmin sessions`, `enrollments`, `users` and `sources` call. */
export const createVerificationProcedures = (
  context: PeopleContext,
  parts: UserParts & { block: Block; sources: SourceOverview },
) => ({
  users: createUserProcedures(context, parts),
  sources: createSourceProcedures(parts.sources),
  sessions: createSessionProcedures(context),
  enrollments: enrollmentProcedures(context, parts.block),
});

type Filter = Omit<Unpaged<ListEnrollments>, 'reason'>;

/** Returns the conditions of a list. @throws ApiError `bad_input` for one of all enrollments, which no index serves */
function requireNarrow({ partnerId, sub, status }: Filter) {
  if (partnerId === undefined && status !== 'blocked')
    throw new ApiError('bad_input', { description: 'Name a partner, or ask for those that are blocked' });
  return givenFields({ partnerId, sub, status });
}

function enrollmentProcedures({ enrollments, clock, partnerNames }: PeopleContext, block: Block) {
  const requireEnrollment = async (id: string): Promise<Enrollment> =>
    requireFound(await enrollments.find(id), `No enrollment ${id}`);

  /** The audit entry of a change of status. Its id is made of request and enrollment, so a repeated write adds no second entry. */
  function entryOf(actor: Actor, { _id, status }: Enrollment, after: Record<string, unknown>): AuditEntry {
    return auditEntry(actor, { id: _id, at: clock.now() }, { before: { status }, after });
  }

  return router({
    list: query(
      ListEnrollments,
      z.array(ListedEnrollment),
      async ({ reason, limit, after, ...wanted }, context) => {
        const last = after === undefined ? undefined : await requireEnrollment(after);
        const found = await enrollments.list(requireNarrow(wanted), { limit, after: last });
        const modes = found.map(({ mode }) => mode);
        await context.noteRead({
          target: wanted.partnerId ?? null,
          modes,
          reason,
          counts: { enrollments: found.length },
        });
        const views = found.map((enrollment) =>
          maskSubject(context.operator.role, viewEnrollment(enrollment)),
        );
        return withPartnerName(views, partnerNames);
      },
    ),

    // A count shows no record of a person, so it needs no reason and is not noted in the audit log.
    count: query(ListEnrollments.omit({ ...pageFields, reason: true }), Total, (wanted) =>
      enrollments.count(requireNarrow(wanted)),
    ),

    show: query(ReadEnrollment, EnrollmentView, async ({ enrollmentId, reason }, context) => {
      const enrollment = await requireEnrollment(enrollmentId);
      await context.noteRead({ target: enrollmentId, modes: [enrollment.mode], reason });
      return maskSubject(context.operator.role, viewEnrollment(enrollment));
    }),

    block: enrollmentMutation(BlockEnrollment, EnrollmentView, async ({ enrollmentId, reason }, actor) => {
      const current = await requireEnrollment(enrollmentId);
      endDryRun(actor);
      const entry = entryOf(actor, current, { status: 'blocked', blockReason: reason });
      return viewEnrollment(await block(enrollmentId, reason, entry));
    }),

    unblock: enrollmentMutation(EnrollmentReference, EnrollmentView, async ({ enrollmentId }, actor) => {
      const current = await requireEnrollment(enrollmentId);
      if (current.status === 'active') return viewEnrollment(current);
      const entry = entryOf(actor, current, { status: 'active' });
      return viewEnrollment(await enrollments.unblock(enrollmentId, entry));
    }),
  });
}
