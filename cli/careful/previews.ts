import { mostPerPage } from '../flags/flags.ts';
import { formatValue, splitName } from '../output/format.ts';

/** Returns the noun for a count: `client` for 1, `clients` for any other count. */
export function nounFor(found: number, noun: string): string {
  if (found === 1) return noun;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** Writes the number of records in a page with its noun: `1 client`, `3 clients`, or `500 or more clients` for a full page. */
export const count = (found: number, noun: string): string =>
  `${found}${found >= mostPerPage ? ' or more' : ''} ${nounFor(found, noun)}`;

/** Describes the change of a list, such as `a b → a c`. */
export function describeListChange(
  oldValues: readonly string[],
  added: readonly string[] = [],
  removed: readonly string[] = [],
): string {
  const newValues = [...new Set([...oldValues, ...added])].filter((value) => !removed.includes(value));
  return `${formatValue('list', oldValues)} → ${formatValue('list', newValues)}`;
}

/** Describes the changes of fields, such as `per minute 60 → 300, per hour stays 1000`. */
export function describeChanges<V extends object>(oldFields: V, newFields: Partial<V>): string {
  return (Object.keys(newFields) as (keyof V & string)[])
    .map((name) => {
      const [from, to] = [oldFields[name], newFields[name]].map((value) => formatValue(name, value));
      return from === to ? `${splitName(name)} stays ${from}` : `${splitName(name)} ${from} → ${to}`;
    })
    .join(', ');
}
