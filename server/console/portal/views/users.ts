import { listView, pageOf } from './kit/list.ts';
import type { PageContext, PageRow, View } from './kit/page.ts';
import { link, tableOf, text, time, toned } from './kit/text.ts';

const mostShown = 20;

async function list(context: PageContext): Promise<View> {
  const { api, m, query } = context;
  const { id, sub } = query;
  const users = id
    ? [await api.enrollments.show({ enrollmentId: id })]
    : await api.enrollments.list({ ...pageOf(context), sub });
  return listView(context, 'users', {
    empty: m.emptyUsers,
    note: m.usersNote,
    search: [
      { name: 'sub', label: m.subject, value: sub },
      { name: 'id', label: 'enrollment_id', value: id, placeholder: 'enr_…' },
    ],
    rows: users,
    columns: [
      [m.id, (user) => link(user.id, `/users/${user.id}`)],
      [m.client, (user) => link(user.clientId, `/clients/${user.clientId}`)],
      [m.mode, (user) => text(user.mode)],
      [m.status, (user) => toned(user.status, user.status === 'blocked' ? 'bad' : undefined)],
      [m.created, (user) => time(user.createdAt)],
    ],
  });
}

async function show({ api, m, partnerId, params }: PageContext): Promise<View> {
  const enrollmentId = params['user'] ?? '';
  const [user, { rows: sessions }, events] = await Promise.all([
    api.enrollments.show({ enrollmentId }),
    api.sessions.list({ partnerId, enrollmentId, limit: mostShown }),
    api.events.list({ partnerId, enrollmentId, limit: mostShown }),
  ]);
  return {
    title: m.user,
    sections: [
      {
        title: user.id,
        facts: [
          [m.status, toned(user.status, user.status === 'blocked' ? 'bad' : undefined)],
          [m.reason, text(user.blockReason)],
          [m.mode, text(user.mode)],
          [m.client, link(user.clientId, `/clients/${user.clientId}`)],
          [m.consentedClaims, text(user.consentedClaims.join(' '))],
          [m.created, time(user.createdAt)],
          [m.firstSession, link(user.firstSession, `/sessions/${user.firstSession}`)],
        ],
        note: user.status === 'blocked' ? m.blockedNote : undefined,
      },
      {
        title: m.sessions,
        table: tableOf(sessions, [
          [m.id, ({ id }) => link(id, `/sessions/${id}`)],
          [m.status, ({ status }) => text(status)],
          [m.reason, ({ reason }) => text(reason)],
          [m.reference, ({ clientReferenceId }) => text(clientReferenceId)],
          [m.created, ({ createdAt }) => time(createdAt)],
        ]),
      },
      {
        title: m.events,
        table: tableOf(events, [
          [m.id, ({ id }) => text(id)],
          [m.event, ({ event }) => text(event)],
          [m.created, ({ createdAt }) => time(createdAt)],
          [m.deliveries, ({ id }) => link(m.show, `/deliveries?eventId=${id}`)],
        ]),
      },
    ],
  };
}

export const userPages: readonly PageRow[] = [
  { path: '/users', nav: 'users', needs: 'enrollments.list', view: list },
  { path: '/users/:user', needs: 'enrollments.show', view: show },
];
