import type { PageContext, PageRow, View } from './page.ts';
import { filled, text, time } from './text.ts';

const page = { limit: 50 };

/** What changed, as one line. */
const changeOf = (before: object | null, after: object | null): string | null =>
  before || after ? `${JSON.stringify(before ?? {})} → ${JSON.stringify(after ?? {})}` : null;

async function view({ api, m, partnerId, query }: PageContext): Promise<View> {
  const { after = '' } = query;
  const [acts, members] = await Promise.all([
    api.members.acts({ partnerId, ...page, ...filled({ after }) }),
    api.members.list({ partnerId, limit: 500 }),
  ]);
  const nameOf = new Map(members.map(({ id, email }) => [id, email]));
  const last = acts.length === page.limit ? acts.at(-1) : undefined;
  return {
    title: m.auditLog,
    sections: [
      {
        title: m.auditLog,
        note: m.auditNote,
        table: {
          headings: [m.time, m.who, m.action, m.target, m.status, m.change, m.requestId],
          rows: acts.map((one) => [
            time(one.at),
            text(nameOf.get(one.operatorId) ?? one.operatorName),
            text(one.action),
            text(one.target),
            {
              text: one.error ? `${one.outcome}: ${one.error}` : one.outcome,
              tone: one.outcome === 'refused' ? ('bad' as const) : undefined,
            },
            text(changeOf(one.before, one.after)),
            text(one.requestId),
          ]),
        },
        next: last && `/log?after=${last.id}`,
      },
    ],
  };
}

export const logPages: readonly PageRow[] = [{ path: '/log', nav: 'auditLog', needs: 'members.acts', view }];
