import { distinct } from '../../platform/batching/distinct.ts';
import type { Stores } from '../stores.ts';
import type { NameOwner, Names } from './request-names.ts';

/** Returns the owners of those names that exist. API keys are found by the hashes of their secrets. */
export async function existingNames(
  { partners, verification }: Pick<Stores, 'partners' | 'verification'>,
  requests: readonly Names[],
): Promise<ReadonlyMap<string, NameOwner>> {
  /** Finds the records of the names of one kind. Without such names it sends no command, because it runs every second. */
  async function findBy<T>(
    kind: keyof Names,
    find: (names: readonly string[]) => Promise<T[]>,
  ): Promise<T[]> {
    const names = distinct(requests.map((request) => request[kind]));
    return names.length > 0 ? find(names) : [];
  }
  const [clients, keys, integrations, sessions] = await Promise.all([
    findBy('clientId', partners.clients.findAll),
    findBy('keyHash', partners.keys.findByHashes),
    findBy('integrationId', partners.integrations.findAll),
    findBy('sessionId', verification.sessions.existing),
  ]);
  const owners = new Map<string, NameOwner>();
  for (const record of [...clients, ...integrations, ...sessions])
    if (record) owners.set(record._id, { partnerId: record.partnerId });
  for (const key of keys) if (key) owners.set(key.hash, { partnerId: key.partnerId, keyId: key._id });
  return owners;
}
