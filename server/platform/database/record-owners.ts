import type { Db } from 'mongodb';

/** The collections of records that belong to a partner, by the prefixes of their ids. */
const collections: Readonly<Record<string, string>> = {
  key: 'apiKeys',
  cli: 'clients',
  int: 'integrations',
  enr: 'enrollments',
  ses: 'sessions',
  dlv: 'deliveries',
  evt: 'events',
  mem: 'members',
};

/** Returns a function that finds the partners of records by the ids of the records. Records of no partner are left out. */
export function createRecordOwners(db: Db) {
  return async (ids: readonly string[]): Promise<ReadonlyMap<string, string>> => {
    const owners = new Map<string, string>();
    for (const [prefix, collection] of Object.entries(collections)) {
      const wanted = ids.filter((id) => id.startsWith(`${prefix}_`));
      if (wanted.length === 0) continue;
      const found = await db
        .collection<{ _id: string; partnerId?: string }>(collection)
        .find({ _id: { $in: wanted } }, { projection: { partnerId: 1 } })
        .toArray();
      for (const { _id, partnerId } of found) if (partnerId) owners.set(_id, partnerId);
    }
    return owners;
  };
}
