import { pageFields, Total } from '../../contracts/admin/references.ts';
import {
  FoundSessions,
  ListSessions,
  SessionReference,
  SessionView,
} from '../../contracts/admin/sessions.ts';
import { maskSubject } from '../platform/admin-api/personal-data.ts';
import { query, router } from '../platform/admin-api/procedures.ts';
import { withPartnerName } from '../platform/database/partner-names.ts';
import { requireFound } from '../platform/errors.ts';
import type { Session } from '../sessions/session.ts';
import { codesOf } from '../sessions/session-store.ts';
import type { PeopleContext } from './context.ts';
import { viewSession, viewSessionSummary } from './views.ts';

export function createSessionProcedures(context: PeopleContext) {
  const { sessions, enrollments, chargeOf, chargedCodes, clock, partnerNames } = context;

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
