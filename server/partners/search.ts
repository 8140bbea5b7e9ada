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

const newestFirst = (one: Partner, other: Partner): number =>
  other.createdAt.getTime() - one.createdAt.getTime() || (one._id < other._id ? 1 : -1);

/** Partners that match a text, newest first, each with the match. */
export function createPartnerSearch({ store, search }: Dependencies) {
  return async ({ text, status, limit, after }: SearchPartners): Promise<FoundPartner[]> => {
    const matches = await search.matches(text);
    const found = await store.findAll([...new Set(matches.map(({ partnerId }) => partnerId))]);
    const partners = found
      .flatMap((partner) => partner ?? [])
      .filter((partner) => status === undefined || partner.status === status)
      .toSorted(newestFirst);
    const last = after === undefined ? -1 : partners.findIndex(({ _id }) => _id === after);
    if (after !== undefined && last === -1) {
      throw new ApiError('not_found', { description: `No partner ${after} among those found` });
    }
    return partners.slice(last + 1, last + 1 + limit).map((partner) => ({
      ...viewPartner(partner),
      found: matches.flatMap(({ partnerId, found: what }) => (partnerId === partner._id ? [what] : [])),
    }));
  };
}
