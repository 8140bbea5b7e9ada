import { errorExplanations } from '../../../../contracts/error-explanations.ts';
import { errorAnchor, isErrorCode } from '../../../../contracts/errors.ts';
import { spanFields, spanIn } from './kit/forms.ts';
import { listView, pageOf } from './kit/list.ts';
import type { PageContext, PageRow, Section, View } from './kit/page.ts';
import { english, link, linkIfAny, text, time, toned } from './kit/text.ts';

async function list(context: PageContext): Promise<View> {
  const { api, m, query } = context;
  const { id, status, error, client, session, since, until } = query;
  const { rows, stoppedAfter, sampledSince } = id
    ? await findById(api, id)
    : await api.requests.list({
        ...pageOf(context),
        status,
        error,
        clientId: client,
        sessionId: session,
        ...spanIn(query),
      });
  return listView(context, 'requests', {
    empty: m.emptyRequests,
    search: [
      { name: 'id', sets: ['requestId'], label: 'X-Request-Id', value: id, placeholder: 'req_…' },
      { name: 'status', label: m.status, value: status, placeholder: '4xx' },
      { name: 'error', label: m.error, value: error, placeholder: 'invalid_grant' },
      { name: 'client', sets: ['clientId'], label: m.client, value: client, placeholder: 'cli_…' },
      ...spanFields(m, since, until),
    ],
    note: sampledSince ? `${m.sampledSince} ${time(sampledSince).text} UTC` : undefined,
    rows,
    stoppedAfter,
    columns: [
      [m.id, (row) => link(row.id, `/requests/${row.id}`)],
      [m.time, (row) => time(row.at)],
      [m.route, (row) => text(`${row.method} ${row.route}`)],
      [m.status, (row) => toned(String(row.status), row.status >= 400 ? 'bad' : undefined)],
      [m.error, (row) => text(row.error)],
    ],
  });
}

/** Finds one request, or none. The result has the form of a search, so that `list` shows it in the same way. */
async function findById(api: PageContext['api'], requestId: string) {
  const { request } = await api.requests.show({ requestId });
  return { rows: request ? [request] : [], stoppedAfter: null, sampledSince: null };
}

async function show({ api, m, params }: PageContext): Promise<View> {
  const { id, request } = await api.requests.show({ requestId: params['request'] ?? '' });
  if (!request) return { title: m.request, sections: [{ title: id, note: m.none }] };
  const code = request.error;
  const explained = code !== null && isErrorCode(code) ? errorExplanations[code] : undefined;
  const meaning: Section[] = explained
    ? [
        {
          title: m.meaning,
          facts: [
            [m.meaning, english(explained.cause)],
            [m.fix, english(explained.fix)],
          ],
        },
      ]
    : [];
  const anchor = code === null ? '' : errorAnchor(code, request.route.startsWith('/api/oauth/'));
  return {
    title: `${request.method} ${request.route}`,
    sections: [
      {
        title: id,
        facts: [
          [m.time, time(request.at)],
          [m.status, text(request.status)],
          [m.duration, text(`${request.durationMs} ms`)],
          [m.error, text(code)],
          [m.reason, english(request.description)],
          [m.client, linkIfAny(request.clientId, '/clients')],
          [m.session, linkIfAny(request.sessionId, '/sessions')],
          [m.redirectUri, text(request.redirectUri)],
        ],
        links: code === null ? [] : [{ text: m.explanation, to: `/docs/errors#${anchor}`, away: true }],
      },
      ...meaning,
    ],
  };
}

export const requestPages: readonly PageRow[] = [
  { path: '/requests', nav: 'requests', needs: 'requests.list', view: list },
  { path: '/requests/:request', needs: 'requests.show', view: show },
];
