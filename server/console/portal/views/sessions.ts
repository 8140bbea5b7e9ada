import { checkedByProcedure, modeOf, select } from './kit/forms.ts';
import { listView, pageOf } from './kit/list.ts';
import type { PageContext, PageRow, View } from './kit/page.ts';
import {
  anyOption,
  english,
  link,
  linkIfAllowed,
  linkIfAny,
  options,
  tableOf,
  text,
  time,
} from './kit/text.ts';
import { entryPage } from './wallet/entry.ts';

/** The states that a search offers: first the outcomes, then the steps of a session. */
const states = ['open', 'complete', 'failed', 'expired', 'pending', 'authenticated', 'verified'];

async function list(context: PageContext): Promise<View> {
  const { api, m, query } = context;
  const { id, reference, status, client } = query;
  const { rows, stoppedAfter } = id
    ? { rows: [await api.sessions.show({ sessionId: id })], stoppedAfter: null }
    : await api.sessions.list({
        ...pageOf(context),
        clientReferenceId: reference,
        status: checkedByProcedure(status),
        clientId: client,
        mode: modeOf(query),
      });
  return listView<(typeof rows)[number]>(context, 'sessions', {
    empty: m.emptySessions,
    search: [
      { name: 'id', label: m.id, value: id, placeholder: 'ses_…' },
      { name: 'reference', label: m.reference, value: reference },
      select('status', m.status, [anyOption, ...options(states)], status),
    ],
    rows,
    stoppedAfter,
    columns: [
      [m.id, (row) => link(row.id, `/sessions/${row.id}`)],
      [m.reference, (row) => text(row.clientReferenceId)],
      [m.mode, (row) => text(row.mode)],
      // A session that has expired keeps its last status.
      [m.status, (row) => text(row.expired ? `${row.status}, ${m.expires}` : row.status)],
      [m.created, (row) => time(row.createdAt)],
    ],
  });
}

async function show(context: PageContext): Promise<View> {
  const { api, m, params } = context;
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
          [m.user, linkIfAny(session.enrollmentId, '/users')],
          [m.claims, text(session.scopes.join(' '))],
          [m.redirectUri, text(session.redirectUri)],
          [m.created, time(session.createdAt)],
          [m.expires, time(session.expiresAt)],
          [
            m.reason,
            failure
              ? { text: `${failure.reason}: ${failure.text}`, tone: 'bad', isEnglish: true }
              : text(null),
          ],
          [m.code, text(code?.state)],
          [m.charge, linkIfAllowed(context, code?.charge?.id, entryPage)],
        ],
        links: [{ text: m.requests, to: `/requests?session=${session.id}` }],
      },
      {
        title: m.timeline,
        table: tableOf(session.timeline, [
          [m.time, ({ at }) => time(at)],
          [m.event, ({ event }) => text(event)],
          [m.text, ({ note }) => english(note)],
        ]),
      },
    ],
  };
}

export const sessionPages: readonly PageRow[] = [
  { path: '/sessions', nav: 'sessions', modes: 'any', needs: 'sessions.list', view: list },
  { path: '/sessions/:session', needs: 'sessions.show', view: show },
];
