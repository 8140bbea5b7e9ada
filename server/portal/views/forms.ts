import type { Messages } from '../messages/en.ts';
import type { Field, Given, PageContext } from './page.ts';
import { options } from './text.ts';

/** The field for how long the old secret is still accepted after a rotation. */
export const keepOldField = (m: Messages): Field => ({
  name: 'keepOld',
  label: m.keepOld,
  kind: 'select',
  options: [
    { value: '0', text: m.notAtAll },
    { value: '3600', text: m.hour },
    { value: '86400', text: m.day },
    { value: '604800', text: m.week },
  ],
});
export const keepOldOf = ({ keepOld = '' }: Given) => ({ keepOldSeconds: Number(keepOld) });

export const modeField = (m: Messages, value?: string, any = false): Field => ({
  name: 'mode',
  label: m.mode,
  kind: 'select',
  value,
  options: options(['test', 'live'], any ? '–' : undefined),
});

/** The mode that a form or a query gave. Another text is refused by the procedure. */
export const modeOf = ({ mode }: Given): 'test' | 'live' | undefined =>
  mode === '' ? undefined : (mode as 'test' | 'live' | undefined);

/** What a field means that names one of these: the rest is refused by the procedure, which the type does not say. */
export const asGiven = <T>(value: string | undefined): T => value as T;

/** Keys that a list of choices offers at most. */
const mostKeys = 500;

/** The active keys of the partner, for a choice. */
export async function keyOptions({ api, partnerId }: Pick<PageContext, 'api' | 'partnerId'>) {
  const keys = await api.keys.list({ partnerId, status: 'active', limit: mostKeys });
  return keys.map(({ id, mode, last4 }) => ({ value: id, text: `${mode} …${last4}` }));
}

/** `2026-07-01` or `2026-07-01 09:00`, as a time of UTC; anything else is refused by the procedure. */
export const timeIn = (value: string | undefined): string | undefined => {
  if (!value?.trim()) return undefined;
  const at = new Date(
    /\d{2}:\d{2}/.test(value) ? `${value.trim().replace(' ', 'T')}Z` : `${value.trim()}T00:00Z`,
  );
  return Number.isNaN(at.getTime()) ? value : at.toISOString();
};
