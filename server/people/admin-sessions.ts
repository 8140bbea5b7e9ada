import { pageFields, Total } from '../../contracts/admin/references.ts';
import {
  FoundSessions,
  ListSessions,
  SessionReference,
  SessionView,
} from '../../contracts/admin/sessions.ts';
import { maskSubject } from '../platform/admin-api/personal-data.ts';
import { query, router } from '../platform/admin-api/procedures.ts';
import { type PartnerNames, withPartnerName } from '../platform/database/partner-names.ts';
import { requireFound } from '../platform/errors.ts';
import type { Session } from '../sessions/session.ts';
import { type CodeOfSession, codesOf, type SessionStore } from '../sessions/session-store.ts';
import type { EnrollmentStore } from './enrollments/enrollment-store.ts';
import { type Charge, viewSession, viewSessionSummary } from './views.ts';

export interface SessionDependencies {
  sessions: Pick<SessionStore, 'find' | 'list' | 'count'>;
  enrollments: Pick<EnrollmentStore, 'find'>;
  /** Returns the charge of a code's exchange; undefined if the code was not exchanged. */
  chargeOf: (code: CodeOfSession) => Promise<Charge | undefined>;
  /** Returns the hashes of the codes that were exchanged. */
  chargedCodes: (codes: readonly CodeOfSession[]) => Promise<Set<string>>;
  clock: { now(): number };
  partnerNames: PartnerNames;
}

export function createSessionProcedures(dependencies: SessionDependencies) {
  const { sessions, enrollments, chargeOf, chargedCodes, clock, partnerNames } = dependencies;

  const requireSession = async (sessionId: string): Promise<Session> =>
    requireFound(await sessions.find(sessionId), `No session ${sessionId}`);

  /** The filter of a list or a count at `now`, in milliseconds. @throws ApiError `not_found` for an unknown enrollment */
  async function filterOf({ enrollmentId, ...wanted }: Omit<ListSessions, 'limit' | 'after'>, now: number) {
    const filter = { ...wanted, now: new Date(now) };
    if (enrollmentId === undefined) return filter;
    const enrollment = requireFound(await enrollments.find(enrollmentId), `No enrollment ${enrollmentId}`);
    return { ...filter, enrollment: { userId: enrollment.userId, enrollmentId } };
  }

  return router({
    list: query(ListSessions, FoundSessions, async ({ after, limit, ...wanted }, ctx) => {
      const now = clock.now();
      const { rows, stoppedAfter } = await sessions.list({
        after: after === undefined ? undefined : await requireSession(after),
        limit,
        ...(await filterOf(wanted, now)),
      });
      const [used, named] = await Promise.all([
        chargedCodes(codesOf(rows)),
        withPartnerName(rows, partnerNames),
      ]);
      const view = (session: Session) => {
        const isUsed = session.code !== undefined && used.has(session.code.hash);
        return maskSubject(ctx.operator.role, viewSessionSummary(session, { isUsed, now }));
      };
      return {
        rows: named.map(({ partnerName, ...session }) => ({ ...view(session), partnerName })),
        stoppedAfter,
      };
    }),

    count: query(ListSessions.omit(pageFields), Total, async (input) =>
      sessions.count(await filterOf(input, clock.now())),
    ),

    show: query(SessionReference, SessionView, async ({ sessionId }, ctx) => {
      const session = await requireSession(sessionId);
      const [code] = codesOf([session]);
      const charge = code && (await chargeOf(code));
      return maskSubject(ctx.operator.role, viewSession(session, { charge, now: clock.now() }));
    }),
  });
}
