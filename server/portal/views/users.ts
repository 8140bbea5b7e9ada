import type { PageContext, PageRow, View } from './page.ts';
import { filled, link, nextPage, pageSize, text, time, toned } from './text.ts';

const mostSessions = 20;

async function list({ api, m, partnerId, query }: PageContext): Promise<View> {
  const { id = '', sub = '', after = '' } = query;
  const users = id
    ? [await api.enrollments.show({ enrollmentId: id.trim() })]
    : await api.enrollments.list({ partnerId, limit: pageSize, ...filled({ sub: sub.trim(), after }) });
  return {
    title: m.users,
    sections: [
      {
        title: m.users,
        note: m.usersNote,
        search: {
          fields: [
            { name: 'sub', label: m.subject, value: sub },
            { name: 'id', label: 'enrollment_id', value: id, placeholder: 'enr_…' },
          ],
          submit: m.find,
        },
        table: {
          headings: [m.id, m.client, m.mode, m.status, m.created],
          rows: users.map((one) => [
            link(one.id, `/users/${one.id}`),
            link(one.clientId, `/clients/${one.clientId}`),
            text(one.mode),
            toned(one.status, one.status === 'blocked' ? 'bad' : undefined),
            time(one.createdAt),
          ]),
        },
        next: nextPage('/users', users, { asked: { sub } }),
      },
    ],
  };
}

async function show({ api, m, partnerId, params }: PageContext): Promise<View> {
  const enrollmentId = params['user'] ?? '';
  const [user, { rows: sessions }, events] = await Promise.all([
    api.enrollments.show({ enrollmentId }),
    api.sessions.list({ partnerId, enrollmentId, limit: mostSessions }),
    api.events.list({ partnerId, enrollmentId, limit: mostSessions }),
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
        ...(user.status === 'blocked' ? { note: m.blockedNote } : {}),
      },
      {
        title: m.sessions,
        table: {
          headings: [m.id, m.status, m.reason, m.reference, m.created],
          rows: sessions.map((one) => [
            link(one.id, `/sessions/${one.id}`),
            text(one.status),
            text(one.reason),
            text(one.clientReferenceId),
            time(one.createdAt),
          ]),
        },
      },
      {
        title: m.events,
        table: {
          headings: [m.id, m.event, m.created, m.deliveries],
          rows: events.map((one) => [
            text(one.id),
            text(one.event),
            time(one.createdAt),
            link(m.show, `/deliveries?eventId=${one.id}`),
          ]),
        },
      },
    ],
  };
}

export const userPages: readonly PageRow[] = [
  { path: '/users', nav: 'users', needs: 'enrollments.list', view: list },
  { path: '/users/:user', needs: 'enrollments.show', view: show },
];
