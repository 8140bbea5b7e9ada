import type { NameLists, NameOwner } from '../admin/request-names.ts';
import type { PartnersStores } from '../partners/store.ts';
import type { StorefrontStores } from '../storefront/store.ts';
import type { VerificationStores } from '../verification/store.ts';

interface Stores {
  partners: Pick<PartnersStores, 'clients' | 'keys'>;
  storefront: StorefrontStores;
  verification: Pick<VerificationStores, 'sessions'>;
}

/** Owners of the names in requests, where they exist. API keys are found by the hashes of their secrets. */
export async function existingNames(
  { partners, storefront, verification }: Stores,
  { clientIds, sessionIds, integrationIds, keyHashes }: NameLists,
): Promise<ReadonlyMap<string, NameOwner>> {
  const [clients, keys, shops, sessions] = await Promise.all([
    partners.clients.findAll(clientIds),
    partners.keys.findByHashes(keyHashes),
    storefront.integrations.findAll(integrationIds),
    verification.sessions.existing(sessionIds),
  ]);
  const named = [...clients, ...shops, ...sessions].flatMap((found) =>
    found ? ([[found._id, { partnerId: found.partnerId }]] as const) : [],
  );
  const bearers = keys.flatMap((key) =>
    key ? ([[key.hash, { partnerId: key.partnerId, keyId: key._id }]] as const) : [],
  );
  return new Map<string, NameOwner>([...named, ...bearers]);
}
