import { asGiven, modeField, modeOf, select } from './forms.ts';
import type { PageContext, PageRow, View } from './page.ts';
import { filled, link, nextPage, options, pageSize, text, time } from './text.ts';

const states = ['open', 'complete', 'failed', 'expired', 'pending', 'authenticated', 'verified'];
type Wanted = Parameters<PageContext['api']['sessions']['list']>[0];

async function list({ api, m, partnerId, query }: PageContext): Promise<View> {
  const { id = '', reference = '', status = '', client = '', after = '' } = query;
  const mode = modeOf(query);
  const wanted = filled({ clientReferenceId: reference.trim(), clientId: client, after, mode });
  const { rows, stoppedAfter } = id
    ? { rows: [await api.sessions.show({ sessionId: id.trim() })], stoppedAfter: null }
    : await api.sessions.list({
        partnerId,
        limit: pageSize,
        ...wanted,
        ...(status ? { status: asGiven<Wanted['status']>(status) } : {}),
      });
  const asked = { reference, status, client, mode };
  return {
    title: m.sessions,
    sections: [
      {
        title: m.sessions,
        search: {
          fields: [
            { name: 'id', label: m.id, value: id, placeholder: 'ses_…' },
            { name: 'reference', label: m.reference, value: reference },
            select('status', m.status, options(states, '–'), status),
            modeField(m, mode, '–'),
          ],
          submit: m.find,
        },
        table: {
          headings: [m.id, m.reference, m.mode, m.status, m.created],
          rows: rows.map((row) => [
            link(row.id, `/sessions/${row.id}`),
            text(row.clientReferenceId),
            text(row.mode),
            text(row.expired ? `${row.status}, ${m.expires}` : row.status),
            time(row.createdAt),
          ]),
        },
        next: nextPage('/sessions', rows, { asked, stoppedAfter }),
      },
    ],
  };
}

async function show({ api, m, params }: PageContext): Promise<View> {
  const session = await api.sessions.show({ sessionId: params['session'] ?? '' });
  const { failure, code } = session;
  return {
    title: m.session,
    sections: [
      {
        title: session.id,
        facts: [
          [m.status, text(session.status)],
          [m.mode, text(session.mode)],
          [m.reference, text(session.clientReferenceId)],
          [m.client, link(session.clientId, `/clients/${session.clientId}`)],
          [
            m.user,
            session.enrollmentId ? link(session.enrollmentId, `/users/${session.enrollmentId}`) : text(null),
          ],
          [m.claims, text(session.scopes.join(' '))],
          [m.redirectUri, text(session.redirectUri)],
          [m.created, time(session.createdAt)],
          [m.expires, time(session.expiresAt)],
          [m.reason, failure ? { text: `${failure.reason}: ${failure.text}`, tone: 'bad' } : text(null)],
          [m.code, text(code?.state)],
          [m.charge, text(code?.charge?.id)],
        ],
        links: [{ text: m.requests, to: `/requests?session=${session.id}` }],
      },
      {
        title: m.timeline,
        table: {
          headings: [m.time, m.event, m.text],
          rows: session.timeline.map(({ at, event, note }) => [time(at), text(event), text(note)]),
        },
      },
    ],
  };
}

export const sessionPages: readonly PageRow[] = [
  { path: '/sessions', nav: 'sessions', needs: 'sessions.list', view: list },
  { path: '/sessions/:session', needs: 'sessions.show', view: show },
];
