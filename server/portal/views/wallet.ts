import { barsOf, usageByDay } from '../usage.ts';
import { modeField, modeOf } from './forms.ts';
import type { Action, PageContext, PageRow, Section, View } from './page.ts';
import { dollars, text, time, wordsOf } from './text.ts';

const dayMs = 86_400_000;
const chartDays = 30;
const chart = { width: 720, height: 160 };
/** Entries that a chart is made of at most, and that one read gives. */
const mostCharted = 10_000;
const mostAtOnce = 1_000;
const mostShown = 100;

type Mode = 'test' | 'live';

/** The charges of the last days. `whole` is false where there were more than are looked at. */
async function charged({ api, partnerId, now }: PageContext, mode: Mode) {
  const from = `${new Date(now - (chartDays - 1) * dayMs).toISOString().slice(0, 10)}T00:00:00.000Z`;
  const wanted = { partnerId, mode, from, limit: mostAtOnce };
  const first = await api.wallets.statement(wanted);
  const entries = [...first.entries];
  for (let { more } = first; more && entries.length < mostCharted; ) {
    const seq = entries.at(-1)?.seq ?? 0;
    const next = await api.wallets.statement({ ...wanted, afterSeq: seq, untilSeq: first.untilSeq });
    entries.push(...next.entries);
    more = next.more && next.entries.length > 0;
  }
  return usageByDay(entries, { days: chartDays, now });
}

async function usage(context: PageContext, mode: Mode): Promise<Section> {
  const { m } = context;
  const days = await charged(context, mode);
  const labelOf = ({ day, charges, cents }: (typeof days)[number]) =>
    `${day}: ${charges} · ${dollars(cents)}`;
  return {
    title: m.usage,
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

async function statement({ api, m, partnerId, query }: PageContext, mode: Mode): Promise<Section> {
  const { entries, opening, closing } = await api.wallets.statement({
    ...{ partnerId, mode, limit: mostShown },
    ...(query['from'] ? { from: `${query['from']}T00:00:00.000Z` } : {}),
    ...(query['to'] ? { to: `${query['to']}T00:00:00.000Z` } : {}),
  });
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
      headings: [m.time, m.entry, m.status, m.amount, m.balance, m.reference],
      rows: entries.map((entry) => [
        time(entry.at),
        text(entry.id),
        text(entry.kind),
        { text: dollars(entry.amount), tone: entry.amount < 0 ? undefined : ('good' as const) },
        text(dollars(entry.balanceAfter)),
        text(entry.sessionId ?? entry.reference ?? entry.reason),
      ]),
    },
    forms: [
      {
        act: 'sign',
        fields: [
          { name: 'mode', label: '', kind: 'hidden', value: mode },
          { name: 'from', label: '', kind: 'hidden', value: query['from'] ?? '' },
          { name: 'to', label: '', kind: 'hidden', value: query['to'] ?? '' },
        ],
        submit: m.signedStatement,
      },
    ],
  };
}

async function rules({ api, m, partnerId }: PageContext, mode: Mode): Promise<Section[]> {
  const [limits, settings] = await Promise.all([
    api.limits.show({ partnerId, mode }),
    api.warnings.settings({ partnerId }),
  ]);
  const { lowBalance, emails } = settings;
  const days =
    typeof lowBalance === 'object' && lowBalance !== null && 'days' in lowBalance ? lowBalance.days : '';
  return [
    {
      title: m.caps,
      facts: [
        [m.perMinute, text(`${limits.perMinute} · ${m.usedNow} ${limits.used.minute}`)],
        [m.perHour, text(`${limits.perHour} · ${m.usedNow} ${limits.used.hour}`)],
      ],
      forms: [
        {
          act: 'caps',
          fields: [
            { name: 'mode', label: '', kind: 'hidden', value: mode },
            { name: 'perMinute', label: m.perMinute, value: String(limits.perMinute) },
            { name: 'perHour', label: m.perHour, value: String(limits.perHour) },
          ],
          submit: m.save,
        },
      ],
    },
    {
      title: m.warnings,
      forms: [
        {
          act: 'warn',
          fields: [
            { name: 'emails', label: m.warningEmails, kind: 'lines', value: emails.join('\n') },
            { name: 'days', label: m.lowDays, value: String(days), placeholder: '7' },
          ],
          submit: m.save,
        },
      ],
    },
  ];
}

async function view(context: PageContext): Promise<View> {
  const { api, m, partnerId, query } = context;
  const mode = modeOf({ mode: query['mode'] ?? '' }) ?? 'live';
  const [wallet, used, entries, ruled] = await Promise.all([
    api.wallets.show({ partnerId, mode }),
    usage(context, mode),
    statement(context, mode),
    rules(context, mode),
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
      },
      entries,
      used,
      ...ruled,
    ],
  };
}

const sign: Action = async ({ api, m, partnerId }, given) => {
  const { from = '', to = '' } = given;
  const { jws } = await api.wallets.signedStatement({
    ...{ partnerId, mode: modeOf(given) },
    ...(from ? { from: `${from}T00:00:00.000Z` } : {}),
    ...(to ? { to: `${to}T00:00:00.000Z` } : {}),
  });
  return { secret: { label: m.signedStatement, value: jws } };
};

const caps: Action = async ({ api, partnerId }, given) => {
  const mode = modeOf(given) ?? 'test';
  const { perMinute = '', perHour = '' } = given;
  await api.limits.set({ partnerId, mode, perMinute: Number(perMinute), perHour: Number(perHour) });
  return { to: `/wallet?mode=${mode}` };
};

const warn: Action = async ({ api, partnerId }, { emails, days = '' }) => {
  await api.warnings.set({
    partnerId,
    emails: wordsOf(emails),
    lowBalance: days.trim() === '' ? null : { days: Number(days) },
  });
  return undefined;
};

export const walletPages: readonly PageRow[] = [
  {
    path: '/wallet',
    nav: 'wallet',
    needs: 'wallets.show',
    changes: 'limits.set',
    view,
    actions: { sign, caps, warn },
  },
];
