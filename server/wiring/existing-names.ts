import type { NameLists, NameOwner } from '../admin/request-names.ts';
import type { PartnersStores } from '../partners/store.ts';
import type { StorefrontStores } from '../storefront/store.ts';
import type { VerificationStores } from '../verification/store.ts';

interface Stores {
  partners: Pick<PartnersStores, 'clients' | 'keys'>;
  storefront: StorefrontStores;
  verification: Pick<VerificationStores, 'sessions'>;
}

/** Each process notes its requests every second: a kind of names that no request had costs no command. */
const found = async <T>(names: readonly string[], find: (names: readonly string[]) => Promise<T[]>) =>
  names.length > 0 ? find(names) : [];

/** Owners of the names in requests, where they exist. API keys are found by the hashes of their secrets. */
export async function existingNames(
  { partners, storefront, verification }: Stores,
  { clientIds, sessionIds, integrationIds, keyHashes }: NameLists,
): Promise<ReadonlyMap<string, NameOwner>> {
  const [clients, keys, shops, sessions] = await Promise.all([
    found(clientIds, partners.clients.findAll),
    found(keyHashes, partners.keys.findByHashes),
    found(integrationIds, storefront.integrations.findAll),
    found(sessionIds, verification.sessions.existing),
  ]);
  const named = [...clients, ...shops, ...sessions].flatMap((owned) =>
    owned ? ([[owned._id, { partnerId: owned.partnerId }]] as const) : [],
  );
  const bearers = keys.flatMap((key) =>
    key ? ([[key.hash, { partnerId: key.partnerId, keyId: key._id }]] as const) : [],
  );
  return new Map<string, NameOwner>([...named, ...bearers]);
}
