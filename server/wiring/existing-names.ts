import type { NameLists } from '../admin/request-names.ts';
import type { PartnersStores } from '../partners/store.ts';
import type { RecordStore } from '../platform/records.ts';
import type { Integration } from '../storefront/integration-store.ts';
import type { VerificationStores } from '../verification/store.ts';

interface Stores {
  partners: Pick<PartnersStores, 'clients' | 'keys'>;
  integrations: Pick<RecordStore<Integration>, 'findAll'>;
  verification: Pick<VerificationStores, 'sessions'>;
}

/** Those of the names of requests that exist; keys by the hashes of their secrets. */
export async function existingNames(
  { partners, integrations, verification }: Stores,
  { clientIds, sessionIds, integrationIds, keyHashes }: NameLists,
): Promise<ReadonlySet<string>> {
  const [clients, keys, shops, sessions] = await Promise.all([
    partners.clients.findAll(clientIds),
    partners.keys.findByHashes(keyHashes),
    integrations.findAll(integrationIds),
    verification.sessions.existing(sessionIds),
  ]);
  const ids = [...clients, ...shops].flatMap((found) => found?._id ?? []);
  return new Set([...ids, ...sessions, ...keys.flatMap((key) => key?.hash ?? [])]);
}
