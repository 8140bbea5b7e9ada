import type { AdminApi } from '../connection/client.ts';
import { formatValue, plain } from '../output/format.ts';

/** The most records that the server returns in one list. */
const mostListed = 500;

/** Returns the noun for a number: `client` for one, `clients` for any other number. */
export function nounFor(number: number, noun: string): string {
  if (number === 1) return noun;
  return /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : `${noun}s`;
}

/** Writes a count, such as `1 client`, `3 clients` or `500 or more clients`. */
export const count = (number: number, noun: string): string =>
  `${number}${number >= mostListed ? ' or more' : ''} ${nounFor(number, noun)}`;

interface Kept {
  mode: 'test' | 'live';
}

/** Writes a count with the live part, such as `3 clients (2 live)`. */
const withLive = (found: readonly Kept[], noun: string): string =>
  `${count(found.length, noun)} (${found.filter(({ mode }) => mode === 'live').length} live)`;

/** Describes the clients and keys that stop working when the partner is suspended. */
export async function servingOf(api: AdminApi, partnerId: string): Promise<string> {
  const wanted = { partnerId, status: 'active', limit: mostListed } as const;
  const [clients, keys, deliveries] = await Promise.all([
    api.clients.list.query(wanted),
    api.keys.list.query(wanted),
    api.deliveries.list.query({ partnerId, status: 'pending', limit: mostListed }),
  ]);
  const waiting = count(deliveries.length, 'pending delivery');
  return `${withLive(clients, 'client')}, ${withLive(keys, 'API key')} and ${waiting}`;
}

/** Describes the change of a list, such as `a b → a c`. */
export function changeOfList(
  before: readonly string[],
  add: readonly string[] = [],
  remove: readonly string[] = [],
): string {
  const after = [...new Set([...before, ...add])].filter((value) => !remove.includes(value));
  return `${formatValue('list', before)} → ${formatValue('list', after)}`;
}

/** Describes the changes of fields, such as `per minute 60 → 300, per hour stays 1000`. */
export function changes<V extends object>(before: V, after: Partial<V>): string {
  return (Object.keys(after) as (keyof V & string)[])
    .map((name) => {
      const [from, to] = [before[name], after[name]].map((value) => formatValue(name, value));
      return from === to ? `${plain(name)} stays ${from}` : `${plain(name)} ${from} → ${to}`;
    })
    .join(', ');
}
