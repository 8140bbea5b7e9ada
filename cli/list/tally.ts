import { formatValue } from '../output/format.ts';
import { isTime } from './where.ts';

/** The number of records with the same values, and their share of all records from 0 to 1, with six decimals. */
export type Group = Record<string, unknown> & { count: number; share: number };

/**
 * Returns the value by which a record is grouped. A time becomes its day in UTC, because few records have the same time.
 * Undefined becomes null, so that records without a value are in one group.
 */
const groupingValue = (value: unknown): unknown =>
  isTime(value) ? value.slice(0, 'YYYY-MM-DD'.length) : (value ?? null);

/**
 * Counts records by the values of some columns.
 * @param sumColumn a column of numbers to add up for each group
 */
export function createTally(columns: readonly string[], sumColumn?: string) {
  const groups = new Map<string, Group>();
  let total = 0;

  function newGroup(values: readonly unknown[]): Group {
    const fields = Object.fromEntries(columns.map((name, index) => [name, values[index]]));
    const group: Group = { ...fields, count: 0, share: 0 };
    if (sumColumn !== undefined) group[sumColumn] = 0;
    return group;
  }

  function compareGroups(one: Group, other: Group): number {
    const textOf = (group: Group) => columns.map((name) => formatValue(name, group[name])).join('\t');
    return other.count - one.count || textOf(one).localeCompare(textOf(other), 'en');
  }

  return {
    columns,
    total: () => total,
    /** @param weight the number of records that the row stands for */
    add(row: object, weight = 1): void {
      const fields = row as Record<string, unknown>;
      const values = columns.map((name) => groupingValue(fields[name]));
      const key = JSON.stringify(values);
      const group = groups.get(key) ?? newGroup(values);
      group.count += weight;
      if (sumColumn !== undefined) group[sumColumn] = Number(group[sumColumn]) + Number(fields[sumColumn]);
      groups.set(key, group);
      total += weight;
    },
    /** Returns the groups, the largest count first. Sorts groups of the same count by their values. */
    groups(): Group[] {
      const shareOf = (count: number) => Number((count / total).toFixed(6));
      return [...groups.values()]
        .map((group) => ({ ...group, share: shareOf(group.count) }))
        .toSorted(compareGroups);
    },
  };
}

export type Tally = ReturnType<typeof createTally>;
