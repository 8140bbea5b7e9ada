import type { Total } from '../../contracts/admin/references.ts';
import { formatValue } from '../output/format.ts';

/** What a search that looked through as many records as one may says about the rest. */
const continueHint = (stoppedAfter: string): string =>
  `There may be more: this looked through as many as one search may. Go on with --after ${stoppedAfter}, or narrow it.`;

const grouped = (number: number): string => number.toLocaleString('en-US');

/** `1903`; a count that reached its end first says so: `more than 100000`. */
export const describeTotal = ({ total, exact }: Total): string => `${exact ? '' : 'more than '}${total}`;

/** `--status failed --mode live`: what narrows a list. */
export const describeFilters = (given: readonly (readonly [string, unknown])[]): string =>
  given
    .map(([name, value]) => (value === true ? `--${name}` : `--${name} ${formatValue(name, value)}`))
    .join(' ');

interface Shown {
  shown: number;
  /** Of the whole list; undefined where it is not known. */
  total: Total | undefined;
  /** What the list was asked to begin after. */
  after: string | undefined;
  /** The record to go on after; null at the end. */
  next: string | null;
  /** Whether the server looked through as many records as it does at a time. */
  stopped: boolean;
  all: boolean | undefined;
  filters: string;
}

function amount({ shown, total, after, next }: Shown): string {
  if (shown === 0 && after === undefined && next === null) return 'Nothing found';
  if (!total) return `${grouped(shown)} shown${next === null ? ', the last ones' : '; there may be more'}`;
  const of = `${total.exact ? '' : 'more than '}${grouped(total.total)}`;
  return `${grouped(shown)} of ${of} shown${next === null && after !== undefined ? ', the last ones' : ''}`;
}

/** How much of a list is shown, what narrows it, and how to see the rest. */
export function describeShown(list: Shown): string {
  const { shown, total, after, next, stopped, filters } = list;
  const sentence = `${amount(list)}${filters === '' ? '' : `, only ${filters}`}.`;
  const isEnd = next === null || (after === undefined && total?.exact === true && total.total <= shown);
  if (isEnd) return sentence;
  if (stopped) return `${sentence} ${continueHint(next)}`;
  return `${sentence} --all shows all; --after ${next} goes on.`;
}

interface Counted {
  counted: number;
  groups: number;
  filters: string;
}

/** What the groups of --by are made of. */
export function describeCounted({ counted, groups, filters }: Counted): string {
  const narrowed = filters === '' ? '' : `, only ${filters}`;
  if (counted === 0) return `Nothing found${narrowed}.`;
  const records = counted === 1 ? '1 record' : `${grouped(counted)} records`;
  return `${records} in ${groups === 1 ? '1 group' : `${grouped(groups)} groups`}${narrowed}.`;
}
