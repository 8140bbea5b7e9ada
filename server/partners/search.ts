import type { FoundPartner, SearchPartners } from '../../contracts/admin/partners.ts';
import { ApiError } from '../platform/errors.ts';
import type { Partner, PartnerStore } from './partner-store.ts';
import type { SearchStore } from './search-store.ts';
import { viewPartner } from './views.ts';

interface Dependencies {
  store: Pick<PartnerStore, 'findAll'>;
  search: SearchStore;
}

export type SearchForPartners = ReturnType<typeof createPartnerSearch>;

/** Orders partners as in other lists. Partners that were created at the same time are ordered by their ids. */
const newestFirst = (a: Partner, b: Partner): number =>
  b.createdAt.getTime() - a.createdAt.getTime() || (a._id < b._id ? 1 : -1);

/** Returns a function that finds the partners that match a text, the newest first, each with its matches. */
export function createPartnerSearch({ store, search }: Dependencies) {
  return async ({ text, status, limit, after }: SearchPartners): Promise<FoundPartner[]> => {
    const matches = await search.matches(text);
    const found = await store.findAll([...new Set(matches.map(({ partnerId }) => partnerId))]);
    const partners = found
      .flatMap((partner) => partner ?? [])
      .filter((partner) => status === undefined || partner.status === status)
      .toSorted(newestFirst);
    const indexOfAfter = partners.findIndex(({ _id }) => _id === after);
    if (after !== undefined && indexOfAfter === -1) {
      throw new ApiError('not_found', { description: `No partner ${after} among those found` });
    }
    // Without `after`, the index is -1, so the page begins with the first partner.
    const start = indexOfAfter + 1;
    return partners.slice(start, start + limit).map((partner) => ({
      ...viewPartner(partner),
      found: matches.filter(({ partnerId }) => partnerId === partner._id).map((match) => match.found),
    }));
  };
}
