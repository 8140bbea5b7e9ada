import { formatValue } from '../output/format.ts';

/** The number of records with the same values. */
export type Group = Record<string, unknown> & { count: number };

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
  return {
    add(rows: readonly object[]): void {
      for (const row of rows) {
        const values = columns.map((name) => countedAs((row as Record<string, unknown>)[name]));
        const name = JSON.stringify(values);
        const found = groups.get(name);
        const group = found ?? {
          ...Object.fromEntries(columns.map((column, at) => [column, values[at]])),
          count: 0,
          ...(sum === undefined ? {} : { [sum]: 0 }),
        };
        group.count += 1;
        if (sum !== undefined)
          group[sum] = Number(group[sum]) + Number((row as Record<string, unknown>)[sum]);
        if (!found) groups.set(name, group);
      }
    },
    /** Sorted by count, the largest first. Groups of the same count are sorted by their values. */
    groups(): Group[] {
      const textOf = (group: Group) => columns.map((name) => formatValue(name, group[name])).join('\t');
      return [...groups.values()].toSorted(
        (one, other) => other.count - one.count || textOf(one).localeCompare(textOf(other), 'en'),
      );
    },
  };
}
