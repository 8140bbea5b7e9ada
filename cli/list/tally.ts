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

/** A group, and the partner of its records if the group has a name of partners. */
interface Counted {
  group: Group;
  partnerId: unknown;
}

/**
 * Counts records by the values of some columns. Partners with the same name are counted apart, and their ids are added to the name.
 * @param sumColumns columns of numbers to add up for each group
 */
export function createTally(columns: readonly string[], ...sumColumns: readonly string[]) {
  const counted = new Map<string, Counted>();
  let total = 0;
  let hasDays = false;

  function newGroup(values: readonly unknown[]): Group {
    const fields = Object.fromEntries(columns.map((name, index) => [name, values[index]]));
    const group: Group = { ...fields, count: 0, share: 0 };
    for (const name of sumColumns) group[name] = 0;
    return group;
  }

  function compareGroups(one: Group, other: Group): number {
    const textOf = (group: Group) => columns.map((name) => formatValue(name, group[name])).join('\t');
    return other.count - one.count || textOf(one).localeCompare(textOf(other), 'en');
  }

  return {
    columns,
    total: () => total,
    /** Whether records were grouped by the day of a time. */
    hasDays: () => hasDays,
    /** @param weight the number of records that the row stands for */
    add(row: object, weight = 1): void {
      const fields = row as Record<string, unknown>;
      const values = columns.map((name) => groupingValue(fields[name]));
      hasDays ||= columns.some((name) => isTime(fields[name]));
      const partnerId = columns.includes('partnerName') ? fields['partnerId'] : undefined;
      const key = JSON.stringify([values, partnerId]);
      const group = counted.get(key)?.group ?? newGroup(values);
      group.count += weight;
      for (const name of sumColumns) group[name] = Number(group[name]) + Number(fields[name]);
      counted.set(key, { group, partnerId });
      total += weight;
    },
    /** Returns the groups, the largest count first. Sorts groups of the same count by their values. */
    groups(): Group[] {
      const shareOf = (count: number) => Number((count / total).toFixed(6));
      const partners = new Map<unknown, Set<unknown>>();
      for (const { group, partnerId } of counted.values())
        partners.set(group['partnerName'], (partners.get(group['partnerName']) ?? new Set()).add(partnerId));
      const nameOf = ({ group: { partnerName }, partnerId }: Counted) =>
        (partners.get(partnerName)?.size ?? 0) > 1 ? `${partnerName ?? '-'} (${partnerId})` : partnerName;
      return [...counted.values()]
        .map((one) => (one.partnerId === undefined ? one.group : { ...one.group, partnerName: nameOf(one) }))
        .map((group) => ({ ...group, share: shareOf(group.count) }))
        .toSorted(compareGroups);
    },
  };
}

export type Tally = ReturnType<typeof createTally>;
