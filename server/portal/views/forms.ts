import type { Messages } from '../messages/en.ts';
import type { Action, Field, Given, PageContext, Section } from './page.ts';
import { options, text, time } from './text.ts';

type Options = NonNullable<Field['options']>;
/** Makes a choice. @param value the option that is chosen already */
export const select = (name: string, label: string, choices: Options, value?: string): Field => ({
  name,
  label,
  kind: 'select',
  value,
  options: choices,
});
export const hidden = (name: string, value: string): Field => ({ name, label: '', kind: 'hidden', value });

/** Makes the fields for the start and the end of a time span. */
export const spanFields = (m: Messages, since?: string, until?: string): Field[] => [
  { name: 'since', label: m.from, value: since, placeholder: '2026-07-01 09:00' },
  { name: 'until', label: m.until, value: until, placeholder: '2026-07-01 12:00' },
];

/** An action after which its page is shown again. */
export const change =
  (run: (context: PageContext, given: Given) => Promise<unknown>): Action =>
  async (context, given) => {
    await run(context, given);
    return undefined;
  };

/** A field that asks how long the old secret stays valid after a rotation. */
export const keepOldField = (m: Messages): Field =>
  select('keepOld', m.keepOld, [
    { value: '0', text: m.notAtAll },
    { value: '3600', text: m.hour },
    { value: '86400', text: m.day },
    { value: '604800', text: m.week },
  ]);
export const keepOldOf = ({ keepOld = '' }: Given) => ({ keepOldSeconds: Number(keepOld) });

/** Makes the field for a mode. @param any the text of the choice "both modes". Without it, one mode must be chosen */
export const modeField = (m: Messages, value?: string, any?: string): Field =>
  select('mode', m.mode, options(['test', 'live'], any), value);

/** The mode in a form or a query. The procedure refuses any other text. */
export const modeOf = ({ mode }: Given): 'test' | 'live' | undefined =>
  mode === '' ? undefined : (mode as 'test' | 'live' | undefined);

/** Treats a text as one of the values of `T`, without a check, because the procedure refuses other values. */
export const asGiven = <T>(value: string | undefined): T => value as T;

/** The most keys that a choice offers. */
const mostKeys = 500;

/** The active keys of the partner, for a choice. */
export async function keyOptions({ api, partnerId }: Pick<PageContext, 'api' | 'partnerId'>) {
  const keys = await api.keys.list({ partnerId, status: 'active', limit: mostKeys });
  return keys.map(({ id, mode, last4 }) => ({ value: id, text: `${mode} …${last4}` }));
}

interface Secret {
  last4: string | null;
  lastUsedAt: string | null;
  expiresAt: string | null;
}

/** Makes the table of a record's secrets: the current one and the old ones. */
export const secretTable = (m: Messages, secrets: readonly Secret[]): NonNullable<Section['table']> => ({
  headings: [m.secret, m.lastUsed, m.expires],
  rows: secrets.map(({ last4, lastUsedAt, expiresAt }) => [
    text(last4 && `…${last4}`),
    time(lastUsedAt),
    expiresAt ? time(expiresAt) : text(m.never),
  ]),
});

/** Converts `2026-07-01` or `2026-07-01 09:00` into a time in UTC. The procedure refuses other texts. */
export const timeIn = (value: string | undefined): string | undefined => {
  if (!value?.trim()) return undefined;
  const at = new Date(
    /\d{2}:\d{2}/.test(value) ? `${value.trim().replace(' ', 'T')}Z` : `${value.trim()}T00:00Z`,
  );
  return Number.isNaN(at.getTime()) ? value : at.toISOString();
};
