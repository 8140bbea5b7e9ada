import { identifierKind } from '../../contracts/identifiers.ts';
import type { AdminApi } from '../connection/client.ts';
import { readAll } from '../list/pages.ts';
import { exactFirst, onlyMatch } from './by-name.ts';

/** Returns the id of a partner by its id, a part of its name, a host or an e-mail address. @throws CommandError */
export async function findPartnerId(api: AdminApi, text: string): Promise<string> {
  // A text of one letter cannot be searched, and the server says so of an unknown id.
  if (identifierKind(text) || text.trim().length < 2) return text;
  const matches = exactFirst(text, await api.partners.search.query({ text }));
  const all = matches.length > 0 ? [] : await readAll((page) => api.partners.list.query(page));
  return onlyMatch(text, { noun: 'partner', matches, all });
}
