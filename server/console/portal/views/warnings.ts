import { isDeepStrictEqual } from 'node:util';
import type { LowBalance, SetWarnings, WarningKind } from '../../../../contracts/admin/warnings.ts';
import { decimal, dollars } from '../../../../contracts/amounts.ts';
import { identifierKind } from '../../../../contracts/identifiers.ts';
import { ApiError } from '../../../platform/errors.ts';
import { isAllowed } from '../calls/scope.ts';
import type { Messages } from '../messages/en.ts';
import { asking } from './kit/ask.ts';
import { numberIn, select, withoutResult } from './kit/forms.ts';
import type { Cell, Given, PageContext, PageRow, Question, Section, View } from './kit/page.ts';
import { english, link, tableOf, text, time, toned, wordsOf } from './kit/text.ts';

const mostShown = 50;

const advice: Readonly<Record<WarningKind, keyof Messages>> = {
  low_balance: 'fixLowBalance',
  endpoint_failing: 'fixEndpoint',
  secret_expiring: 'fixSecret',
  cap_reached: 'fixCap',
};

type Warning = Awaited<ReturnType<PageContext['api']['warnings']['list']>>[number];

/** The path of the page of a record that has secrets: an API key, an integration or a client. */
function pathOfRecord(id: string): string {
  const kind = identifierKind(id);
  if (kind === 'apiKey') return `/keys/${id}`;
  return kind === 'integration' ? `/integrations/${id}` : `/clients/${id}`;
}

function pathOf({ about, kind, mode }: Warning): string {
  switch (kind) {
    case 'endpoint_failing':
      return `/webhooks/${about}`;
    case 'secret_expiring':
      return pathOfRecord(about);
    case 'low_balance':
    case 'cap_reached':
      return `/wallet?mode=${mode}`;
  }
}

/** A link to what a warning is about: a record, or the wallet of a mode. Beside the id of a record, it shows the mode. */
const aboutOf = (warning: Warning): Cell => {
  const { about, mode } = warning;
  return link(about, pathOf(warning), about === mode ? undefined : mode);
};

/** A problem of a partner that needs attention. */
export interface Problem {
  text: string;
  isEnglish?: boolean;
  advice: string | undefined;
  about: Cell;
  since: string | null;
}

const problemOf = (warning: Warning, m: Messages): Problem => ({
  text: warning.text,
  isEnglish: true,
  advice: m[advice[warning.kind]],
  about: aboutOf(warning),
  since: warning.since,
});

/** The open warnings and other problems, each with advice. Without any, all is well. */
export function openProblems(
  warnings: readonly Warning[],
  m: Messages,
  others: readonly Problem[] = [],
): Section {
  const problems = [...others, ...warnings.map((warning) => problemOf(warning, m))];
  if (problems.length === 0) return { title: m.problems, note: m.noProblems };
  return {
    title: m.problems,
    table: tableOf(problems, [
      [m.text, ({ text, isEnglish = false }) => ({ ...toned(text, 'bad'), isEnglish })],
      [m.fix, (problem) => text(problem.advice)],
      [m.about, ({ about }) => about],
      [m.since, ({ since }) => time(since)],
    ]),
  };
}

const formValuesOf = (lowBalance: LowBalance | null) => {
  if (lowBalance === null) return { kind: 'default', amount: '' };
  if (lowBalance === 'off') return { kind: 'off', amount: '' };
  return 'days' in lowBalance
    ? { kind: 'days', amount: String(lowBalance.days) }
    : { kind: 'dollars', amount: decimal(lowBalance.cents) };
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
    // Members who may change the addresses see them in the form below.
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
      openProblems(open, m),
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
        table: tableOf(over, [
          [m.text, (warning) => english(warning.text)],
          [m.about, aboutOf],
          [m.since, ({ since }) => time(since)],
          [m.until, ({ overAt }) => time(overAt)],
        ]),
      },
    ],
  };
}

/** The threshold in a form; null for the default. @throws ApiError `bad_input` for an amount that is not a number */
function thresholdIn({ lowBalance = '', amount = '' }: Given): SetWarnings['lowBalance'] {
  const number = numberIn(amount.replace(',', '.'));
  if (Number.isNaN(number) && ['days', 'dollars'].includes(lowBalance))
    throw new ApiError('bad_input', { description: 'Write the days or dollars as a number, such as 14' });
  if (lowBalance === 'days') return { days: number };
  if (lowBalance === 'dollars') return { cents: Math.round(number * 100) };
  return lowBalance === 'off' ? 'off' : null;
}

const set = withoutResult(({ api, partnerId }, form) =>
  api.warnings.set({ partnerId, emails: wordsOf(form['emails']), lowBalance: thresholdIn(form) }),
);

function thresholdText(lowBalance: SetWarnings['lowBalance'], m: Messages): string {
  if (lowBalance === null || lowBalance === undefined) return m.lowDefault;
  if (lowBalance === 'off') return m.off;
  return 'days' in lowBalance ? `${m.daysLeft}: ${lowBalance.days}` : dollars(lowBalance.cents);
}

/** Asks before an address gets no more warnings, or the threshold changes. Their e-mails are about live mode. */
const askToSet = async ({ api, m, partnerId }: PageContext, form: Given): Promise<Question | undefined> => {
  const { emails, lowBalance } = await api.warnings.settings({ partnerId });
  const wanted = wordsOf(form['emails']);
  const isKept = emails.every((email) => wanted.includes(email));
  const threshold = thresholdIn(form);
  if (isKept && isDeepStrictEqual(lowBalance, threshold)) return undefined;
  const change = `${emails.join(' ') || '–'} → ${wanted.join(' ') || '–'}`;
  return {
    text: m.changesEmails,
    facts: [
      [m.warningEmails, text(change)],
      [m.lowBalance, text(`${thresholdText(lowBalance, m)} → ${thresholdText(threshold, m)}`)],
    ],
  };
};

/** Sets whether the member gets e-mails about warnings. */
const wish = withoutResult(({ api, memberId }, form) =>
  api.members.setWishes({ memberId, warnings: form['wanted'] === 'yes' }),
);

export const warningPages: readonly PageRow[] = [
  {
    path: '/warnings',
    nav: 'warnings',
    needs: 'warnings.list',
    view,
    actions: { set: asking('warnings.set', askToSet, set), wish },
  },
];
