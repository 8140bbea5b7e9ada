import type { Total } from '../../contracts/admin/references.ts';
import { formatValue, localTime } from '../output/format.ts';

const withThousands = (count: number): string => count.toLocaleString('en-US');

/** A total of records that may be a sample: since this time, some are missing. */
export type SampledTotal = Total & { sampledSince?: string | null | undefined };

/** Says since when records are missing. Empty if none is. */
const describeSampling = (sampledSince: string | null | undefined): string =>
  sampledSince ? `, sampled since ${localTime(sampledSince)}` : '';

/** Writes a total, such as `1903`, `more than 100000` if the count stopped at its limit, or `about 1903, sampled since …`. */
export const describeTotal = ({ total, exact, sampledSince }: SampledTotal): string =>
  `${precisionOf({ exact, sampledSince })}${total}${describeSampling(sampledSince)}`;

function precisionOf({ exact, sampledSince }: Omit<SampledTotal, 'total'>): string {
  if (!exact) return 'more than ';
  return sampledSince ? 'about ' : '';
}

/** Writes the filter of a list as flags, such as `--status failed --mode live`. */
export const describeFilters = (flags: readonly (readonly [string, unknown])[]): string =>
  flags
    .flatMap(([name, value]) =>
      Array.isArray(value) ? value.map((one) => describeFlag(name, one)) : describeFlag(name, value),
    )
    .join(' ');

/** Describes the filters that have a value, for the end of a sentence: `, only --mode live`. Empty without any. */
export function describeOnly(filters: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  return given.length === 0 ? '' : `, only ${describeFilters(given)}`;
}

function describeFlag(name: string, value: unknown): string {
  return value === true ? `--${name}` : `--${name} ${formatValue(name, value)}`;
}

interface Shown {
  shown: number;
  /** The total of the whole list. Undefined if it is not known. */
  total: SampledTotal | undefined;
  /** The record after which the list begins. */
  after: string | undefined;
  /** The record after which the next page begins; null at the end of the list. */
  next: string | null;
  /** Whether the search stopped because it had read the most records that one search may read. */
  isStopped: boolean;
  /** Since when the records are a sample. Null if none is missing. */
  sampledSince?: string | null;
  filters: string;
}

/** Describes how many records are shown, such as `50 of 1,903 shown`. */
function describeCount({ shown, total, after, next, isStopped, sampledSince }: Shown): string {
  const isLastPage = next === null;
  if (shown === 0 && isLastPage && after === undefined) return 'Nothing found';
  const count = withThousands(shown);
  // Without --after, the two numbers already say that the whole list is shown.
  const ending = isLastPage && after !== undefined ? ', the last ones' : '';
  if (total)
    return `${count} of ${precisionOf(total)}${withThousands(total.total)} shown${ending}${describeSampling(total.sampledSince)}`;
  // The hint for a stopped search says itself that there may be more.
  return `${count} shown${isLastPage || isStopped ? ending : '; there may be more'}${describeSampling(sampledSince)}`;
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
  /** Whether they are counted by days, which are those of UTC. */
  hasDays: boolean;
  sampledSince: string | null;
  groups: number;
  /** The number of groups that are shown. */
  shown: number;
  filters: string;
}

/** Describes the records that the groups of --by count. */
export function describeCounted(result: Counted): string {
  const { counted, hasDays, sampledSince, groups, shown, filters } = result;
  const filterText = filters === '' ? '' : `, only ${filters}`;
  if (counted === 0) return `Nothing found${filterText}.`;
  const about = precisionOf({ exact: true, sampledSince });
  const records = `${about}${counted === 1 ? '1 record' : `${withThousands(counted)} records`}`;
  const cut = shown < groups ? `; the first ${withThousands(shown)} are shown` : '';
  return `${records} in ${groups === 1 ? '1 group' : `${withThousands(groups)} groups`}${describeSampling(sampledSince)}${filterText}${cut}.${hasDays ? ' Days are those of UTC.' : ''}`;
}

/**
 * Says so, in an array, if a period begins before the oldest record that is kept: its counts are too low then.
 * @param begin RFC 3339
 * @param keptMs how long the records are kept; undefined for ever
 */
export function describeDeleted(begin: string | undefined, keptMs: number | undefined): string[] {
  const oldest = Date.now() - (keptMs ?? Number.POSITIVE_INFINITY);
  if (begin === undefined || !(Date.parse(begin) < oldest)) return [];
  return [`What is older than ${localTime(new Date(oldest).toISOString())} is not kept.`];
}
