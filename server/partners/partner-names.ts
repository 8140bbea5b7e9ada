import type { PartnerStore } from './partner-store.ts';

/** Returns a function that reads the names of partners by their ids. Ids that do not exist are left out. */
export function createPartnerNames(store: Pick<PartnerStore, 'findAll'>) {
  return async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const found = await store.findAll(ids);
    return new Map(found.flatMap((partner) => (partner ? [[partner._id, partner.name] as const] : [])));
  };
}
