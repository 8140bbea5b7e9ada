import type { PageContext, PageRow, View } from './page.ts';
import { filled, nextPage, pageSize, text, time } from './text.ts';

type Fields = Readonly<Record<string, unknown>> | null;
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Describes each changed field, such as `role: viewer → owner`. */
function changeOf(before: Fields, after: Fields): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const parts = names.map((name) => {
    const [old, now] = [before?.[name], after?.[name]];
    if (old === undefined) return `${name}: ${asText(now)}`;
    return now === undefined ? `${name}: ${asText(old)} →` : `${name}: ${asText(old)} → ${asText(now)}`;
  });
  return parts.join(', ');
}

async function view({ api, m, partnerId, query }: PageContext): Promise<View> {
  const { after = '' } = query;
  const [acts, members] = await Promise.all([
    api.members.acts({ partnerId, limit: pageSize, ...filled({ after }) }),
    api.members.list({ partnerId, limit: 500 }),
  ]);
  const nameOf = new Map(members.map(({ id, email }) => [id, email]));
  return {
    title: m.auditLog,
    sections: [
      {
        title: m.auditLog,
        note: m.auditNote,
        table: {
          headings: [m.time, m.who, m.action, m.target, m.change],
          rows: acts.map((one) => [
            { ...time(one.at), note: one.requestId },
            text(nameOf.get(one.operatorId) ?? one.operatorName),
            {
              text: one.action,
              isWhole: true,
              note: one.error ? `${one.outcome}: ${one.error}` : one.outcome,
              tone: one.outcome === 'refused' ? ('bad' as const) : undefined,
            },
            text(one.target),
            text(changeOf(one.before, one.after)),
          ]),
        },
        next: nextPage('/log', acts),
      },
    ],
  };
}

export const logPages: readonly PageRow[] = [{ path: '/log', nav: 'auditLog', needs: 'members.acts', view }];
