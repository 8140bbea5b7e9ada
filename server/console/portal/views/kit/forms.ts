import { beginsWithDay } from '../../../../../contracts/calendar.ts';
import { type ClaimName, claimNames } from '../../../../../contracts/claims.ts';
import { Mode } from '../../../../../contracts/identifiers.ts';
import { ApiError } from '../../../../platform/errors.ts';
import { withAsciiDigits } from '../../../../platform/typed-digits.ts';
import { FieldFault } from '../../fault-words.ts';
import type { Messages } from '../../messages/en.ts';
import type { Action, Field, Given, PageContext } from './page.ts';
import { options } from './text.ts';

type Options = NonNullable<Field['options']>;

/** Makes a field with options. @param value the option that is chosen already */
export const select = (name: string, label: string, choices: Options, value?: string): Field => ({
  name,
  label,
  kind: 'select',
  value,
  options: choices,
});
export const hidden = (name: string, value: string): Field => ({ name, label: '', kind: 'hidden', value });

export const spanFields = (m: Messages, since?: string, until?: string): Field[] => [
  { name: 'since', label: `${m.from} (UTC)`, value: since, placeholder: '2026-07-01 09:00' },
  { name: 'until', label: `${m.until} (UTC)`, value: until, placeholder: '2026-07-01 12:00' },
];

export const fieldError = (name: string, description: string): ApiError =>
  new ApiError('bad_input', { description, cause: new FieldFault(name) });

/**
 * What the chosen option of a field stands for.
 * @throws ApiError `bad_input` for a value that the field does not offer
 */
export function choiceIn<T>(given: Given, name: string, choices: Readonly<Record<string, T>>): T {
  const value = given[name] ?? '';
  // `hasOwn`, because every object also has names such as `constructor`.
  if (!Object.hasOwn(choices, value)) throw fieldError(name, 'Choose one of the options');
  return choices[value] as T;
}

export const isOn = (given: Given, name: string): boolean => choiceIn(given, name, { on: true, off: false });

/** Whether a check box is checked. A browser does not send the field of one that is not. */
export const isChecked = (given: Given, name: string): boolean =>
  choiceIn(given, name, { yes: true, '': false });

/** Makes an action from a function whose result is not shown. After it, the page is shown again. */
export const withoutResult =
  (run: (context: PageContext, given: Given) => Promise<unknown>): Action =>
  async (context, given) => {
    await run(context, given);
    return undefined;
  };

/** Reads a number in a form, in decimal digits. NaN, which every procedure refuses, for other texts, such as `` and `1e3`. */
export function numberIn(value = ''): number {
  const digits = withAsciiDigits(value).trim();
  return /^-?\d+(?:\.\d+)?$/.test(digits) ? Number(digits) : Number.NaN;
}

/** The time some hours after `now`. Text that is no time, which every procedure refuses, for hours that lead to none. */
export function timeAfter(now: number, hours: number): string {
  const at = new Date(now + hours * 3_600_000);
  return Number.isNaN(at.getTime()) ? '' : at.toISOString();
}

export const modeOptions = options(Mode.options);
export const modeField = (m: Messages, value?: string): Field => select('mode', m.mode, modeOptions, value);

/** Gives a typed text the type `T` of the field of an input where it stands. The procedure itself refuses other values. */
export const checkedByProcedure = <T>(value: string | undefined): T => value as T;

/** The mode in a form or a query; undefined if none was chosen. */
export const modeOf = ({ mode }: Given): Mode | undefined => checkedByProcedure(mode || undefined);

/** The most API keys that a form offers for a choice. */
const mostKeys = 500;

export async function keyOptions({ api, partnerId }: Pick<PageContext, 'api' | 'partnerId'>) {
  const keys = await api.keys.list({ partnerId, status: 'active', limit: mostKeys });
  return keys.map(({ id, mode, last4 }) => ({ value: id, text: `${mode} …${last4}` }));
}

/**
 * Reads a time in UTC, such as `2026-07-01` or `2026-07-01 09:00`. Returns any other text as it is, so that the procedure refuses
 * it. Returns undefined for an empty text.
 */
export function timeIn(value: string | undefined): string | undefined {
  const typed = value?.trim();
  if (!typed) return undefined;
  // `Date` reads 2026-11-31 as the first of December. The procedure refuses a text that is no time.
  if (!beginsWithDay(typed)) return typed;
  const hasTimeOfDay = /\d{2}:\d{2}/.test(typed);
  // `Z` makes it a time in UTC. A day without a time means its beginning.
  const at = new Date(hasTimeOfDay ? `${typed.replace(' ', 'T')}Z` : `${typed}T00:00Z`);
  return Number.isNaN(at.getTime()) ? typed : at.toISOString();
}

/** Reads a time span. The procedure refuses one that does not end after its begin. */
export const spanIn = ({ since, until }: Given) => ({ since: timeIn(since), until: timeIn(until) });

/** Makes a check box for each claim. @param chosen the claims that are checked already */
export const claimFields = (m: Messages, chosen: readonly ClaimName[]): Field[] =>
  claimNames.map((claim) => ({
    name: `claim_${claim}`,
    label: claim,
    kind: 'check',
    group: m.claims,
    value: chosen.includes(claim) ? 'yes' : '',
  }));
export const claimsIn = (given: Given): ClaimName[] =>
  claimNames.filter((claim) => isChecked(given, `claim_${claim}`));
