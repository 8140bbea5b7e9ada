import type { AdminApi } from '../connection/client.ts';
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

interface WithMode {
  mode: 'test' | 'live';
}

/** Writes a count with the live part, such as `3 clients (2 live)`. */
const countWithLive = (found: readonly WithMode[], noun: string): string =>
  `${count(found.length, noun)} (${found.filter(({ mode }) => mode === 'live').length} live)`;

/** Describes the clients, keys and pending deliveries that stop when a partner is suspended, with their numbers. */
export async function describeServed(api: AdminApi, partnerId: string): Promise<string> {
  const wanted = { partnerId, status: 'active', limit: mostPerPage } as const;
  const [clients, keys, deliveries] = await Promise.all([
    api.clients.list.query(wanted),
    api.keys.list.query(wanted),
    api.deliveries.list.query({ partnerId, status: 'pending', limit: mostPerPage }),
  ]);
  const pending = count(deliveries.length, 'pending delivery');
  return `${countWithLive(clients, 'client')}, ${countWithLive(keys, 'API key')} and ${pending}`;
}

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
