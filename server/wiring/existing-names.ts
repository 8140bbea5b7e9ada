import type { NameLists, NameOwner } from '../admin/request-names.ts';
import type { PartnersStores } from '../partners/store.ts';
import type { StorefrontStores } from '../storefront/store.ts';
import type { VerificationStores } from '../verification/store.ts';

interface Stores {
  partners: Pick<PartnersStores, 'clients' | 'keys'>;
  storefront: StorefrontStores;
  verification: Pick<VerificationStores, 'sessions'>;
}

/** Finds records by their names. It sends no command for an empty list, because it runs in each process every second. */
const findNames = async <T>(names: readonly string[], find: (names: readonly string[]) => Promise<T[]>) =>
  names.length > 0 ? find(names) : [];

/** Returns the owners of those names that exist. API keys are found by the hashes of their secrets. */
export async function existingNames(
  { partners, storefront, verification }: Stores,
  { clientIds, sessionIds, integrationIds, keyHashes }: NameLists,
): Promise<ReadonlyMap<string, NameOwner>> {
  const [clients, keys, integrations, sessions] = await Promise.all([
    findNames(clientIds, partners.clients.findAll),
    findNames(keyHashes, partners.keys.findByHashes),
    findNames(integrationIds, storefront.integrations.findAll),
    findNames(sessionIds, verification.sessions.existing),
  ]);
  const owners = new Map<string, NameOwner>();
  for (const record of [...clients, ...integrations, ...sessions])
    if (record) owners.set(record._id, { partnerId: record.partnerId });
  for (const key of keys) if (key) owners.set(key.hash, { partnerId: key.partnerId, keyId: key._id });
  return owners;
}
