import type { LowBalance, SetWarnings, WarningKind } from '../../../contracts/admin/warnings.ts';
import type { Messages } from '../messages/en.ts';
import { isAllowed } from '../scope.ts';
import { change, select } from './forms.ts';
import type { Cell, Given, PageContext, PageRow, Section, View } from './page.ts';
import { link, text, time, toned, wordsOf } from './text.ts';

const mostShown = 50;

/** The advice for each kind of warning. */
const advice: Readonly<Record<WarningKind, keyof Messages>> = {
  low_balance: 'fixLowBalance',
  endpoint_failing: 'fixEndpoint',
  secret_expiring: 'fixSecret',
  cap_reached: 'fixCap',
};

type Warning = Awaited<ReturnType<PageContext['api']['warnings']['list']>>[number];

/** The path of the page that a warning is about. */
function pathOf({ about, kind, mode }: Warning): string {
  if (kind === 'endpoint_failing') return `/webhooks/${about}`;
  if (kind !== 'secret_expiring') return `/wallet?mode=${mode}`;
  if (about.startsWith('key_')) return `/keys/${about}`;
  return about.startsWith('int_') ? `/integrations/${about}` : `/clients/${about}`;
}

const aboutOf = (warning: Warning): Cell => {
  const { about, mode } = warning;
  return link(about, pathOf(warning), about === mode ? undefined : mode);
};

/** The open warnings, each with advice. */
export function openWarnings(warnings: readonly Warning[], m: Messages): Section {
  if (warnings.length === 0) return { title: m.problems, note: m.noProblems };
  return {
    title: m.problems,
    table: {
      headings: [m.text, m.fix, m.about, m.since],
      rows: warnings.map((one): Cell[] => [
        toned(one.text, 'bad'),
        text(m[advice[one.kind]]),
        aboutOf(one),
        time(one.since),
      ]),
    },
  };
}

/** Returns a threshold as the values of the form. */
const formValuesOf = (lowBalance: LowBalance | null) => {
  if (lowBalance === null) return { kind: 'default', amount: '' };
  if (lowBalance === 'off') return { kind: 'off', amount: '' };
  return 'days' in lowBalance
    ? { kind: 'days', amount: String(lowBalance.days) }
    : { kind: 'dollars', amount: (lowBalance.cents / 100).toFixed(2) };
};

async function view({ api, m, role, partnerId, memberId }: PageContext): Promise<View> {
  const [open, over, { emails, lowBalance }, wishes] = await Promise.all([
    api.warnings.list({ partnerId, state: 'raised', limit: mostShown }),
    api.warnings.list({ partnerId, state: 'over', limit: mostShown }),
    api.warnings.settings({ partnerId }),
    api.members.wishes({ memberId }),
  ]);
  const { kind, amount } = formValuesOf(lowBalance);
  const choices = [
    { value: 'default', text: m.lowDefault },
    { value: 'days', text: m.lowDays },
    { value: 'dollars', text: m.lowDollars },
    { value: 'off', text: m.off },
  ];
  const settings: Section = {
    title: m.warningSettings,
    note: m.warningNote,
    facts: isAllowed(role, 'warnings.set') ? [] : [[m.warningEmails, text(emails.join(', '))]],
    forms: [
      {
        act: 'set',
        needs: 'warnings.set',
        fields: [
          { name: 'emails', label: m.warningEmails, kind: 'lines', value: emails.join('\n') },
          select('lowBalance', m.lowBalance, choices, kind),
          { name: 'amount', label: m.threshold, value: amount, placeholder: '14' },
        ],
        submit: m.save,
      },
    ],
  };
  return {
    title: m.warnings,
    sections: [
      openWarnings(open, m),
      {
        title: m.ownWarnings,
        forms: [
          {
            act: 'wish',
            fields: [
              { name: 'wanted', label: m.wantWarnings, kind: 'check', value: wishes.warnings ? 'yes' : '' },
            ],
            submit: m.save,
          },
        ],
      },
      settings,
      {
        title: m.overWarnings,
        table: {
          headings: [m.text, m.about, m.since, m.until],
          rows: over.map((one) => [text(one.text), aboutOf(one), time(one.since), time(one.overAt)]),
        },
      },
    ],
  };
}

/** The threshold in a form. The procedure refuses an amount that is not a number. */
function thresholdIn({ lowBalance = '', amount = '' }: Given): SetWarnings['lowBalance'] {
  const number = amount.trim() === '' ? Number.NaN : Number(amount.trim().replace(',', '.'));
  if (lowBalance === 'days') return { days: number };
  if (lowBalance === 'dollars') return { cents: Math.round(number * 100) };
  return lowBalance === 'off' ? 'off' : null;
}

const set = change(({ api, partnerId }, form) =>
  api.warnings.set({ partnerId, emails: wordsOf(form['emails']), lowBalance: thresholdIn(form) }),
);

const wish = change(({ api, memberId }, form) =>
  api.members.setWishes({ memberId, warnings: form['wanted'] === 'yes' }),
);

export const warningPages: readonly PageRow[] = [
  { path: '/warnings', nav: 'warnings', needs: 'warnings.list', view, actions: { set, wish } },
];
