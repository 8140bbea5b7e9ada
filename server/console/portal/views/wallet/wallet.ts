import { dollars } from '../../../../../contracts/amounts.ts';
import { BillableKind } from '../../../../../contracts/charge.ts';
import type { Mode } from '../../../../../contracts/identifiers.ts';
import { asking } from '../kit/ask.ts';
import { checkedByProcedure, hidden, numberIn } from '../kit/forms.ts';
import type { Action, Given, PageContext, PageRow, Question, Section, View } from '../kit/page.ts';
import { tableOf, text, utcText } from '../kit/text.ts';
import { shownMode, statement } from './statement.ts';
import { barsOf } from './usage.ts';

const chartDays = 30;
/** The size of the chart of usage, in units of its view box. */
const chartSize = { width: 720, height: 160 };

async function usage({ api, m, partnerId }: PageContext, mode: Mode): Promise<Section> {
  const { days } = await api.wallets.usage({ partnerId, mode, days: chartDays });
  const labelOf = ({ day, charges, cents }: (typeof days)[number]) =>
    `${day}: ${charges} · ${dollars(cents)}`;
  return {
    title: m.usage,
    note: m.usageNote,
    empty: m.emptyUsage,
    // Without a bar, it would be a large empty space.
    chart: days.some(({ charges }) => charges > 0)
      ? { ...chartSize, title: m.usage, bars: barsOf(days, { ...chartSize, labelOf }) }
      : undefined,
    table: tableOf(days.filter(({ charges }) => charges > 0).toReversed(), [
      [m.time, ({ day }) => text(day)],
      [m.charges, ({ charges }) => text(charges)],
      [m.amount, ({ cents }) => text(dollars(cents))],
    ]),
  };
}

/** The highest caps that members may set, if an operator has set any. */
function ceilingsOf(
  { ceilingPerMinute, ceilingPerHour }: Awaited<ReturnType<PageContext['api']['limits']['show']>>,
  m: PageContext['m'],
): NonNullable<Section['facts']> {
  if (ceilingPerMinute === null && ceilingPerHour === null) return [];
  const part = (name: string, ceiling: number | null) => (ceiling === null ? [] : [`${name}: ${ceiling}`]);
  const parts = [...part(m.perMinute, ceilingPerMinute), ...part(m.perHour, ceilingPerHour)];
  return [[m.ceiling, text(parts.join(' · '))]];
}

async function spendCaps({ api, m, partnerId }: PageContext, mode: Mode): Promise<Section> {
  const limits = await api.limits.show({ partnerId, mode });
  return {
    title: m.caps,
    facts: [
      [m.perMinute, text(`${limits.perMinute} · ${m.usedNow} ${limits.used.minute}`)],
      [m.perHour, text(`${limits.perHour} · ${m.usedNow} ${limits.used.hour}`)],
      ...ceilingsOf(limits, m),
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

/** The price of a check, or the prices of its kinds if they differ, and the prices that begin later. */
async function pricesOf({ api, m, partnerId }: PageContext): Promise<NonNullable<Section['facts']>> {
  const prices = await api.prices.show({ partnerId });
  const kinds = BillableKind.options;
  const isOne = kinds.every((kind) => prices[kind] === prices.token);
  const each = kinds.map((kind) => `${kind} ${dollars(prices[kind])}`);
  return [
    [m.pricePerCheck, text(isOne ? dollars(prices.token) : each.join(' · '))],
    ...prices.planned.map(
      ({ kind, cents, from }) =>
        [`${m.pricePerCheck}, ${m.validFrom} ${utcText(from)}`, text(`${kind} ${dollars(cents)}`)] as const,
    ),
  ];
}

async function view(context: PageContext): Promise<View> {
  const { api, m, partnerId } = context;
  const mode = shownMode(context);
  const [wallet, prices, usageSection, statementSection, capsSection] = await Promise.all([
    api.wallets.show({ partnerId, mode }),
    pricesOf(context),
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
          ...prices,
        ],
        note: mode === 'test' ? m.refillNote : m.fundNote,
        forms: [mode === 'test' && { act: 'refill', needs: 'wallets.refill', fields: [], submit: m.refill }],
        links: [{ text: m.lowBalance, to: '/warnings' }],
      },
      statementSection,
      usageSection,
      capsSection,
    ],
  };
}

const refillWallet: Action = async ({ api, partnerId }) => {
  await api.wallets.refill({ partnerId });
  return { to: '/wallet?mode=test' };
};

const setCaps: Action = async ({ api, partnerId }, { mode = '', perMinute, perHour }) => {
  await api.limits.set({
    partnerId,
    mode: checkedByProcedure(mode),
    // A cap of 0 would refuse all charges, so an emptied field must not become one.
    perMinute: numberIn(perMinute),
    perHour: numberIn(perHour),
  });
  return { to: `/wallet?mode=${mode}` };
};

const askToSetCaps = async (
  { api, m, partnerId }: PageContext,
  { mode = '', perMinute, perHour }: Given,
): Promise<Question | undefined> => {
  if (mode !== 'live') return undefined;
  const now = await api.limits.show({ partnerId, mode });
  // NaN, which the procedure refuses, is not lower.
  const isLower = numberIn(perMinute) < now.perMinute || numberIn(perHour) < now.perHour;
  if (!isLower) return undefined;
  const change = (from: number, to: string | undefined, used: number) =>
    text(`${from} → ${to ?? ''} · ${m.usedNow} ${used}`);
  return {
    text: m.changesCaps,
    facts: [
      [m.perMinute, change(now.perMinute, perMinute, now.used.minute)],
      [m.perHour, change(now.perHour, perHour, now.used.hour)],
    ],
  };
};

export const walletPages: readonly PageRow[] = [
  {
    path: '/wallet',
    nav: 'wallet',
    modes: 'one',
    needs: 'wallets.show',
    changes: 'limits.set',
    view,
    actions: { refill: refillWallet, caps: asking('limits.set', askToSetCaps, setCaps) },
  },
];
