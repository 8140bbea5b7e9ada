import type { Messages } from '../messages/en.ts';
import type { Field, Given } from './page.ts';
import { options } from './text.ts';

/** For how long a secret is accepted beside its successor. */
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
