import { renderStatement } from '../../../contracts/admin/statement-csv.ts';
import type { Mode } from '../../../contracts/identifiers.ts';
import { ApiError } from '../../platform/errors.ts';
import { barsOf, startOfDay, usageByDay } from '../usage.ts';
import { hidden, modeField, modeOf, timeIn } from './forms.ts';
import type { Action, Document, DocumentRow, Given, PageContext, PageRow, Section, View } from './page.ts';
import { dollars, filled, link, text, time, toned } from './text.ts';

const chartDays = 30;
const chart = { width: 720, height: 160 };
/** The most entries of a chart or a file, and the most entries of one read. */
const mostRead = 10_000;
const mostAtOnce = 1_000;
const mostShown = 100;

type Wanted = Parameters<PageContext['api']['wallets']['statement']>[0];

/** Reads a statement in several reads. `more`: whether there are more than `mostRead` entries. */
async function readStatement({ api }: PageContext, wanted: Wanted) {
  const statement = await api.wallets.statement({ ...wanted, limit: mostAtOnce });
  const { entries, untilSeq } = statement;
  while (statement.more && entries.length < mostRead) {
    const afterSeq = entries.at(-1)?.seq ?? 0;
    const next = await api.wallets.statement({ ...wanted, limit: mostAtOnce, afterSeq, untilSeq });
    entries.push(...next.entries);
    statement.closing = next.closing;
    statement.more = next.more && next.entries.length > 0;
  }
  return statement;
}

async function usage(context: PageContext, mode: Mode): Promise<Section> {
  const { m, partnerId, now } = context;
  const from = startOfDay(now, chartDays - 1);
  const { entries } = await readStatement(context, { partnerId, mode, from });
  const days = usageByDay(entries, { days: chartDays, now });
  const labelOf = ({ day, charges, cents }: (typeof days)[number]) =>
    `${day}: ${charges} · ${dollars(cents)}`;
  return {
    title: m.usage,
    note: m.usageNote,
    chart: { ...chart, title: m.usage, bars: barsOf(days, { ...chart, labelOf }) },
    table: {
      headings: [m.time, m.charges, m.amount],
      rows: days
        .filter(({ charges }) => charges > 0)
        .toReversed()
        .map(({ day, charges, cents }) => [text(day), text(charges), text(dollars(cents))]),
    },
  };
}

/** The period in a form or a query. */
const periodOf = ({ from, to }: Given) => filled({ from: timeIn(from), to: timeIn(to) });

async function statement({ api, m, partnerId, query }: PageContext, mode: Mode): Promise<Section> {
  const { from = '', to = '', afterSeq = '', untilSeq = '' } = query;
  const read = await api.wallets.statement({
    partnerId,
    mode,
    limit: mostShown,
    ...periodOf(query),
    ...(afterSeq ? { afterSeq: Number(afterSeq), untilSeq: Number(untilSeq) } : {}),
  });
  const { entries, opening, closing, more } = read;
  const last = more ? entries.at(-1)?.seq : undefined;
  const asked = { mode, ...filled({ from, to }) };
  const next =
    last && new URLSearchParams({ ...asked, afterSeq: `${last}`, untilSeq: `${read.untilSeq}` }).toString();
  return {
    title: m.statement,
    search: {
      fields: [
        modeField(m, mode),
        { name: 'from', label: m.from, value: query['from'], placeholder: '2026-07-01' },
        { name: 'to', label: m.until, value: query['to'], placeholder: '2026-08-01' },
      ],
      submit: m.show,
    },
    facts: [
      [m.opening, text(dollars(opening))],
      [m.closing, text(dollars(closing))],
    ],
    table: {
      headings: [m.time, m.entry, m.kind, m.amount, m.balance, m.about],
      rows: entries.map((entry) => [
        time(entry.at),
        text(entry.id),
        text(entry.kind),
        toned(dollars(entry.amount), entry.amount < 0 ? undefined : 'good'),
        text(dollars(entry.balanceAfter)),
        entry.sessionId
          ? link(entry.sessionId, `/sessions/${entry.sessionId}`)
          : text(entry.reference ?? entry.reason),
      ]),
    },
    next: next ? `/wallet?${next}` : undefined,
    links: [{ text: m.statementCsv, to: `/wallet/statement.csv?${new URLSearchParams(asked).toString()}` }],
    forms: [
      {
        act: 'sign',
        needs: 'wallets.signedStatement',
        fields: [hidden('mode', mode), hidden('from', from), hidden('to', to)],
        submit: m.signedStatement,
      },
    ],
  };
}

async function spendCaps({ api, m, partnerId }: PageContext, mode: Mode): Promise<Section> {
  const limits = await api.limits.show({ partnerId, mode });
  return {
    title: m.caps,
    facts: [
      [m.perMinute, text(`${limits.perMinute} · ${m.usedNow} ${limits.used.minute}`)],
      [m.perHour, text(`${limits.perHour} · ${m.usedNow} ${limits.used.hour}`)],
    ],
    forms: [
      {
        act: 'caps',
        fields: [
          hidden('mode', mode),
          { name: 'perMinute', label: m.perMinute, value: String(limits.perMinute) },
          { name: 'perHour', label: m.perHour, value: String(limits.perHour) },
        ],
        submit: m.save,
      },
    ],
  };
}

async function view(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const mode = modeOf(query) ?? 'live';
  const [wallet, usageSection, statementSection, capsSection] = await Promise.all([
    api.wallets.show({ partnerId, mode }),
    usage(context, mode),
    statement(context, mode),
    spendCaps(context, mode),
  ]);
  return {
    title: `${m.wallet}: ${mode}`,
    sections: [
      {
        title: m.balance,
        facts: [
          [m.balance, text(dollars(wallet.balance))],
          [m.daysLeft, text(wallet.daysLeft === null ? null : Math.floor(wallet.daysLeft))],
          [m.spentPerDay, text(dollars(wallet.spentPerDay))],
        ],
        note: m.fundNote,
        links: [{ text: m.lowBalance, to: '/warnings' }],
      },
      statementSection,
      usageSection,
      capsSection,
    ],
  };
}

const sign: Action = async ({ api, m, partnerId }, given) => {
  const wanted = { partnerId, mode: modeOf(given), ...periodOf(given) };
  const { jws } = await api.wallets.signedStatement(wanted);
  return { result: { label: m.signedStatement, value: jws } };
};

const setCaps: Action = async ({ api, partnerId }, given) => {
  const mode = modeOf(given) ?? 'test';
  const { perMinute = '', perHour = '' } = given;
  await api.limits.set({ partnerId, mode, perMinute: Number(perMinute), perHour: Number(perHour) });
  return { to: `/wallet?mode=${mode}` };
};

/** Makes the same file as `svc statement --csv`. */
async function csv(context: PageContext): Promise<Document> {
  const { partnerId, query } = context;
  const mode = modeOf(query) ?? 'live';
  const statement = await readStatement(context, { partnerId, mode, ...periodOf(query) });
  if (statement.more)
    throw new ApiError('refused', {
      description: `More than ${mostRead} entries: choose a shorter period, or use svc statement --csv`,
    });
  return {
    type: 'text/csv',
    content: `${renderStatement(statement).join('\r\n')}\r\n`,
    fileName: `statement-${mode}.csv`,
  };
}

export const walletDocuments: readonly DocumentRow[] = [
  { path: '/wallet/statement.csv', needs: 'wallets.statement', document: csv },
];

export const walletPages: readonly PageRow[] = [
  {
    path: '/wallet',
    nav: 'wallet',
    needs: 'wallets.show',
    changes: 'limits.set',
    view,
    actions: { sign, caps: setCaps },
  },
];
