import { renderClosing, renderEntries, renderOpening } from '../../../../../contracts/admin/statement-csv.ts';
import { dollars } from '../../../../../contracts/amounts.ts';
import type { Mode } from '../../../../../contracts/identifiers.ts';
import { isAllowed } from '../../calls/scope.ts';
import { modeOf, timeIn } from '../kit/forms.ts';
import type { Document, DocumentRow, Field, Given, PageContext, Section } from '../kit/page.ts';
import { link, linkIfAllowed, queryOf, tableOf, text, time } from '../kit/text.ts';
import { entryPage, movedAmount, sessionPage } from './entry.ts';

/** The entries that one call returns. More would hold up other requests. */
const entriesPerCall = 500;
const mostShown = 100;

type StatementRequest = Parameters<PageContext['api']['wallets']['statement']>[0];

/**
 * Reads a whole statement in parts. `untilSeq` is the last entry at the time of the first call, so that entries that are added
 * later are left out.
 */
async function* readParts({ api }: PageContext, wanted: StatementRequest) {
  let { afterSeq, untilSeq } = wanted;
  for (let hasMore = true; hasMore; ) {
    const part = await api.wallets.statement({ ...wanted, limit: entriesPerCall, afterSeq, untilSeq });
    yield part;
    ({ untilSeq } = part);
    afterSeq = part.entries.at(-1)?.seq ?? undefined;
    // After a part without entries, `afterSeq` would stay the same, and the loop would not end.
    hasMore = part.more && afterSeq !== undefined;
  }
}

const periodOf = ({ from, to }: Given) => ({ from: timeIn(from), to: timeIn(to) });

/** The mode of the shown wallet: live if none was chosen. */
export const shownMode = ({ query }: PageContext): Mode => modeOf(query) ?? 'live';

/** A field for a day. A link may have a time of day too, which a field for days could not show. */
const dayField = (name: string, label: string, value: string | undefined): Field => ({
  name,
  label: `${label} (UTC)`,
  value,
  kind: value === undefined || plainDay.test(value) ? 'date' : 'text',
});
const plainDay = /^\d{4}-\d{2}-\d{2}$/;
const monthsOffered = 3;

/** The last months that have ended, the latest first, each with its name and its days. */
function monthsBefore({ language, now }: Pick<PageContext, 'language' | 'now'>) {
  const name = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const today = new Date(now);
  const firstDay = (monthsAgo: number) =>
    new Date(Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - monthsAgo));
  const dayOf = (at: Date) => at.toISOString().slice(0, 10);
  return Array.from({ length: monthsOffered }, (_, n) => ({
    text: name.format(firstDay(n + 1)),
    from: dayOf(firstDay(n + 1)),
    to: dayOf(firstDay(n)),
  }));
}

export async function statement(context: PageContext, mode: Mode): Promise<Section> {
  const { api, m, role, partnerId, query } = context;
  const { from, to, afterSeq, untilSeq } = query;
  const shown = await api.wallets.statement({
    partnerId,
    mode,
    limit: mostShown,
    ...periodOf(query),
    // On a further page: the last entry of the page before, and the last entry of the whole statement.
    afterSeq: afterSeq === undefined ? undefined : Number(afterSeq),
    untilSeq: untilSeq === undefined ? undefined : Number(untilSeq),
  });
  const { entries, opening, closing, more } = shown;
  const search = { mode, from, to };
  const last = more ? entries.at(-1) : undefined;
  const nextQuery =
    last && queryOf({ ...search, afterSeq: String(last.seq), untilSeq: String(shown.untilSeq) });
  return {
    title: m.statement,
    empty: m.emptyStatement,
    note: m.statementNote,
    search: {
      fields: [dayField('from', m.from, from), dayField('to', m.until, to)],
      submit: m.show,
      shortcuts: monthsBefore(context).map(({ text, ...period }) => ({
        text,
        to: `/wallet?${queryOf({ mode, ...period })}`,
      })),
      downloads: [
        { text: m.statementCsv, to: '/wallet/statement.csv' },
        ...(isAllowed(role, 'wallets.signedStatement')
          ? [{ text: m.signedStatement, to: '/wallet/statement.jws' }]
          : []),
      ],
    },
    facts: [
      [m.opening, text(dollars(opening))],
      [m.closing, text(dollars(closing))],
    ],
    table: tableOf(entries, [
      [m.time, ({ at }) => time(at)],
      [m.entry, ({ id }) => link(id, `${entryPage.path}/${id}`)],
      [m.kind, ({ kind }) => text(kind)],
      [m.amount, ({ amount }) => movedAmount(amount)],
      [m.balance, ({ balanceAfter }) => text(dollars(balanceAfter))],
      [
        m.about,
        ({ sessionId, reference, reason }) =>
          sessionId ? linkIfAllowed(context, sessionId, sessionPage) : text(reference ?? reason),
      ],
    ]),
    next: nextQuery && `/wallet?${nextQuery}`,
  };
}

/** Returns the same parts, after the first one was made. So a fault of the first part is answered with a status of its own. */
async function afterFirst(parts: AsyncGenerator<string>): Promise<AsyncIterable<string>> {
  const first = await parts.next();
  return (async function* () {
    if (first.done) return;
    yield first.value;
    yield* parts;
  })();
}

const linesOf = (lines: readonly string[]) => lines.map((line) => `${line}\r\n`).join('');

/** Makes the same file as `svc statement --csv`, part by part, so that its length has no limit. */
async function* csvLines(context: PageContext, mode: Mode) {
  const { partnerId, query } = context;
  let closing: Parameters<typeof renderClosing>[0] | undefined;
  for await (const part of readParts(context, { partnerId, mode, ...periodOf(query) })) {
    if (closing === undefined) yield linesOf(renderOpening(part));
    yield linesOf(renderEntries(part.entries));
    closing = part;
  }
  if (closing) yield linesOf(renderClosing(closing));
}

async function csv(context: PageContext): Promise<Document> {
  const mode = shownMode(context);
  return {
    type: 'text/csv',
    content: await afterFirst(csvLines(context, mode)),
    fileName: fileName(context, 'csv'),
  };
}

const fileName = (context: PageContext, type: string): string => {
  const { from = '', to = '' } = context.query;
  const days = [from, to].filter((day) => plainDay.test(day));
  return `${['statement', shownMode(context), ...days].join('-')}.${type}`;
};

/** The statement as a signed text (JWS). */
async function signed(context: PageContext): Promise<Document> {
  const { api, partnerId, query } = context;
  const { jws } = await api.wallets.signedStatement({
    partnerId,
    mode: shownMode(context),
    ...periodOf(query),
  });
  return { type: 'application/jose', content: `${jws}\n`, fileName: fileName(context, 'jws') };
}

export const statementDocuments: readonly DocumentRow[] = [
  { path: '/wallet/statement.csv', needs: 'wallets.statement', document: csv },
  { path: '/wallet/statement.jws', needs: 'wallets.signedStatement', document: signed },
];
