import type { Total } from '../../contracts/admin/references.ts';
import { formatValue } from '../output/format.ts';

const withThousands = (count: number): string => count.toLocaleString('en-US');

/** Writes a total, such as `1903`, or `more than 100000` if the count stopped at its limit. */
export const describeTotal = ({ total, exact }: Total): string => `${exact ? '' : 'more than '}${total}`;

/** Writes the filter of a list as flags, such as `--status failed --mode live`. */
export const describeFilters = (flags: readonly (readonly [string, unknown])[]): string =>
  flags
    .flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((one) => describeFlag(name, one)) : describeFlag(name, value),
    )
    .join(' ');

function describeFlag(name: string, value: unknown): string {
  return value === true ? `--${name}` : `--${name} ${formatValue(name, value)}`;
}

interface Shown {
  shown: number;
  /** The total of the whole list. Undefined if it is not known. */
  total: Total | undefined;
  /** The record after which the list begins. */
  after: string | undefined;
  /** The record after which the next page begins; null at the end of the list. */
  next: string | null;
  /** Whether the search stopped because it had read the most records that one search may read. */
  isStopped: boolean;
  filters: string;
}

/** Describes how many records are shown, such as `50 of 1,903 shown`. */
function describeCount({ shown, total, after, next, isStopped }: Shown): string {
  const isLastPage = next === null;
  if (shown === 0 && isLastPage && after === undefined) return 'Nothing found';
  const count = withThousands(shown);
  // Without --after, the two numbers already say that the whole list is shown.
  const ending = isLastPage && after !== undefined ? ', the last ones' : '';
  if (total)
    return `${count} of ${total.exact ? '' : 'more than '}${withThousands(total.total)} shown${ending}`;
  // The hint for a stopped search says itself that there may be more.
  return `${count} shown${isLastPage || isStopped ? ending : '; there may be more'}`;
}

/** Describes how much of a list is shown, its filter, and how to see the rest. */
export function describeShown(list: Shown): string {
  const { shown, total, after, next, isStopped, filters } = list;
  const sentence = `${describeCount(list)}${filters === '' ? '' : `, only ${filters}`}.`;
  // After a full page, the server cannot say whether another one follows. The total may say that none does.
  const hasAllRecords = after === undefined && total?.exact === true && total.total <= shown;
  if (next === null || hasAllRecords) return sentence;
  if (isStopped)
    return `${sentence} There may be more: this looked through as many as one search may. Go on with --after ${next}, or narrow it.`;
  return `${sentence} --all shows all; --after ${next} goes on.`;
}

interface Counted {
  counted: number;
  groups: number;
  filters: string;
}

/** Describes the records that the groups of --by count. */
export function describeCounted({ counted, groups, filters }: Counted): string {
  const filterText = filters === '' ? '' : `, only ${filters}`;
  if (counted === 0) return `Nothing found${filterText}.`;
  const records = counted === 1 ? '1 record' : `${withThousands(counted)} records`;
  return `${records} in ${groups === 1 ? '1 group' : `${withThousands(groups)} groups`}${filterText}.`;
}
