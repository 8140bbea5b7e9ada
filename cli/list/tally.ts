import { formatValue } from '../output/format.ts';

/** The number of records with the same values, and their share of all records from 0 to 1, with six decimals. */
export type Group = Record<string, unknown> & { count: number; share: number };

const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

/** Returns the value to count by. A time is replaced by its day in UTC, because hardly any two records have the same time. */
const countedAs = (value: unknown): unknown =>
  typeof value === 'string' && time.test(value) ? value.slice(0, 10) : (value ?? null);

/**
 * Counts records by the values of some columns.
 * @param sum a column of numbers to add up
 */
export function createTally(columns: readonly string[], sum?: string) {
  const groups = new Map<string, Group>();
  let total = 0;
  return {
    /** @param weights how many records each row stands for; without it, one */
    add(rows: readonly object[], weights?: readonly number[]): void {
      for (const [at, row] of rows.entries()) {
        const weight = weights?.[at] ?? 1;
        const values = columns.map((name) => countedAs((row as Record<string, unknown>)[name]));
        const name = JSON.stringify(values);
        const found = groups.get(name);
        const group = found ?? {
          ...Object.fromEntries(columns.map((column, index) => [column, values[index]])),
          ...{ count: 0, share: 0 },
          ...(sum === undefined ? {} : { [sum]: 0 }),
        };
        group.count += weight;
        total += weight;
        if (sum !== undefined)
          group[sum] = Number(group[sum]) + Number((row as Record<string, unknown>)[sum]);
        if (!found) groups.set(name, group);
      }
    },
    /** Sorted by count, the largest first. Groups of the same count are sorted by their values. */
    groups(): Group[] {
      const textOf = (group: Group) => columns.map((name) => formatValue(name, group[name])).join('\t');
      const withShares = [...groups.values()].map((group) => ({
        ...group,
        share: Math.round((group.count / total) * 1e6) / 1e6,
      }));
      return withShares.toSorted(
        (one, other) => other.count - one.count || textOf(one).localeCompare(textOf(other), 'en'),
      );
    },
  };
}
