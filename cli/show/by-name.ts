import { closest } from '../../contracts/closest.ts';
import { identifierKind } from '../../contracts/identifiers.ts';
import { comparable } from '../../contracts/input-text.ts';
import type { AdminApi } from '../connection/client.ts';
import { CommandError, usageError } from '../errors/failure.ts';
import { readAll } from '../list/pages.ts';

/** A record that a text may mean. */
interface Named {
  id: string;
  name: string;
}

/** The most matches that an error lists. */
const mostListed = 20;

/** Returns the id of the only match. @throws CommandError not_found without a match, usage with several */
export function onlyMatch(
  text: string,
  { noun, matches, all }: { noun: string; matches: readonly Named[]; all: readonly Named[] },
): string {
  const [match, ...others] = matches;
  if (match && others.length === 0) return match.id;
  if (match) {
    const lines = matches.slice(0, mostListed).map(({ id, name }) => `${id}  ${name}`);
    throw usageError(`${matches.length} ${noun}s match ${text}: name one by its id`, lines.join('\n'));
  }
  const meant = closest(
    comparable(text),
    all.map(({ name }) => comparable(name)),
  );
  const suggested = all.find(({ name }) => comparable(name) === meant);
  throw new CommandError({
    code: 'not_found',
    message: `No ${noun} ${text}`,
    ...(suggested && { hint: `Did you mean ${suggested.name} (${suggested.id})?` }),
  });
}

/** Prefers records whose name is the text itself to those that only contain it. */
export function exactFirst(text: string, matches: readonly Named[]): readonly Named[] {
  const exact = matches.filter(({ name }) => comparable(name) === comparable(text));
  return exact.length > 0 ? exact : matches;
}

/** Returns the id of a client by its id or a part of its name. @throws CommandError */
export async function findClientId(api: AdminApi, text: string): Promise<string> {
  if (identifierKind(text)) return text;
  const all = await readAll((page) => api.clients.list.query(page));
  const matches = all.filter(({ name }) => comparable(name).includes(comparable(text)));
  return onlyMatch(text, { noun: 'client', matches: exactFirst(text, matches), all });
}
