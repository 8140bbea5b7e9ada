import { listView, pageOf } from './kit/list.ts';
import type { PageContext, PageRow, View } from './kit/page.ts';
import { text, time } from './kit/text.ts';
import { emailsOfMembers } from './members.ts';

type Fields = Readonly<Record<string, unknown>> | null;
const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value));

/** Describes each changed field: `role: viewer → owner`. A new field is `role: owner`, a removed one `role: viewer →`. */
function changeOf(before: Fields, after: Fields): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const parts = names.map((name) => {
    const oldValue = before?.[name];
    const newValue = after?.[name];
    if (oldValue === undefined) return `${name}: ${asText(newValue)}`;
    if (newValue === undefined) return `${name}: ${asText(oldValue)} →`;
    return `${name}: ${asText(oldValue)} → ${asText(newValue)}`;
  });
  return parts.join(', ');
}

async function view(context: PageContext): Promise<View> {
  const { api, m } = context;
  const [entries, emails] = await Promise.all([api.members.acts(pageOf(context)), emailsOfMembers(context)]);
  return listView(context, 'auditLog', {
    empty: m.none,
    note: m.auditNote,
    rows: entries,
    columns: [
      [m.time, ({ at, requestId }) => ({ ...time(at), note: requestId })],
      // Members are shown by their e-mail addresses, which the audit log does not have.
      [m.who, ({ operatorId, operatorName }) => text(emails.get(operatorId) ?? operatorName)],
      [
        m.action,
        ({ action, outcome, error }) => ({
          text: action,
          isWhole: true,
          note: error ? `${outcome}: ${error}` : outcome,
          tone: outcome === 'refused' ? 'bad' : undefined,
        }),
      ],
      [m.target, ({ target }) => text(target)],
      [m.change, ({ before, after }) => text(changeOf(before, after))],
    ],
  });
}

export const logPages: readonly PageRow[] = [{ path: '/log', nav: 'auditLog', needs: 'members.acts', view }];
