import { isDeepStrictEqual } from 'node:util';
import type { LowBalance, SetWarnings, WarningKind } from '../../../../contracts/admin/warnings.ts';
import { decimal, dollars, parseDollars } from '../../../../contracts/amounts.ts';
import { identifierKind } from '../../../../contracts/identifiers.ts';
import { withAsciiDigits } from '../../../platform/typed-digits.ts';
import { isAllowed } from '../calls/scope.ts';
import type { Messages } from '../messages/en.ts';
import { asking } from './kit/ask.ts';
import { choiceIn, fieldError, isChecked, numberIn, select, withoutResult } from './kit/forms.ts';
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
          { name: 'amount', sets: ['days', 'cents'], label: m.threshold, value: amount, placeholder: '14' },
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

function daysIn(amount: string): number {
  const days = numberIn(amount);
  if (Number.isNaN(days)) throw fieldError('amount', 'Write the days as a number, such as 14');
  return days;
}

function centsIn(amount: string): number {
  const cents = parseDollars(amount, { canBeNegative: true });
  if (cents === undefined) throw fieldError('amount', 'Write the dollars as an amount, such as 50.00');
  return cents;
}

/** The threshold in a form; null for the default. @throws ApiError `bad_input` for an amount that is none, or an unknown choice */
function thresholdIn(given: Given): SetWarnings['lowBalance'] {
  const amount = withAsciiDigits(given['amount'] ?? '')
    .trim()
    .replace(/[,٫]/, '.');
  return choiceIn<() => SetWarnings['lowBalance']>(given, 'lowBalance', {
    days: () => ({ days: daysIn(amount) }),
    dollars: () => ({ cents: centsIn(amount) }),
    off: () => 'off',
    default: () => null,
  })();
}

/** The addresses in a form, in lower case, as they are stored. */
const emailsIn = (given: Given): string[] => wordsOf(given['emails']).map((email) => email.toLowerCase());

const set = withoutResult(({ api, partnerId }, form) =>
  api.warnings.set({ partnerId, emails: emailsIn(form), lowBalance: thresholdIn(form) }),
);

function thresholdText(lowBalance: SetWarnings['lowBalance'], m: Messages): string {
  if (lowBalance === null || lowBalance === undefined) return m.lowDefault;
  if (lowBalance === 'off') return m.off;
  return 'days' in lowBalance ? `${m.daysLeft}: ${lowBalance.days}` : dollars(lowBalance.cents);
}

/** Asks before an address gets no more warnings, or the threshold changes. Their e-mails are about live mode. */
const askToSet = async ({ api, m, partnerId }: PageContext, form: Given): Promise<Question | undefined> => {
  const { emails, lowBalance } = await api.warnings.settings({ partnerId });
  const wanted = emailsIn(form);
  // Addresses that were set by earlier builds can have capital letters.
  const isKept = emails.every((email) => wanted.includes(email.toLowerCase()));
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
  api.members.setWishes({ memberId, warnings: isChecked(form, 'wanted') }),
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
