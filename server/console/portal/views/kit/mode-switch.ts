import { Mode } from '../../../../../contracts/identifiers.ts';
import type { Given, PageContext, PageRow } from './page.ts';
import { queryOf } from './text.ts';

/** The mode that the member has chosen; undefined for both modes. */
export const modeIn = ({ mode }: Given): Mode | undefined => Mode.safeParse(mode).data;

/** Adds the chosen mode to an address of the portal, so that the next page has it too. An address may have its own. */
export function keepMode(to: string, query: Given): string {
  const mode = modeIn(query);
  if (mode === undefined || /[?&]mode=/.test(to)) return to;
  return `${to}${to.includes('?') ? '&' : '?'}mode=${mode}`;
}

/** The links of the switch, each to the first page of the same list. */
export function modeSwitch(modes: NonNullable<PageRow['modes']>, { path, query, m }: PageContext) {
  const chosen = modeIn(query) ?? (modes === 'one' ? 'live' : undefined);
  const choices = [...(modes === 'one' ? [] : [undefined]), ...Mode.options.toReversed()];
  return choices.map((mode) => {
    const search = queryOf({ ...query, mode, after: undefined, afterSeq: undefined, untilSeq: undefined });
    return { text: mode ?? m.bothModes, to: `${path}${search && `?${search}`}`, current: mode === chosen };
  });
}
