import { createGroupCommit } from '../platform/batching/group-commit.ts';
import type { Clock } from '../platform/clock.ts';
import { isWellFormedSecret, sameText, sha256 } from '../platform/ids.ts';
import type { ChangeStore } from './change-store.ts';
import { createChangeWatch } from './change-watch.ts';
import type { Client, ClientStore } from './client-store.ts';
import { createDirectoryCache } from './directory-cache.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
import type { Partner, PartnerStore } from './partner-store.ts';
import { isLive } from './secrets.ts';

/** How to read a record. Without options, a cached one is good enough. */
export interface Reading<T> {
  /** Whether to read the database instead of the cache. */
  fresh?: boolean;
  /** A condition of the caller. If a cached record does not meet it, the record is read once from the database. */
  until?: (found: T) => boolean;
}

interface ClientWithPartner {
  client: Client;
  partner: Partner;
}

/** Reads a record with the caller's options. @param read `fresh` makes it read the database instead of the cache */
async function readWith<T>(
  read: (fresh: boolean) => Promise<T | undefined>,
  { fresh = false, until = () => true }: Reading<T>,
): Promise<T | undefined> {
  const found = await read(fresh);
  const mayBeOutdated = found !== undefined && !fresh && !until(found);
  return mayBeOutdated ? read(true) : found;
}

/**
 * Finds partners, clients and API keys. Partners and clients are cached. This process learns within 2 s of the changes that other
 * processes make. API keys are never cached.
 */
export interface Directory {
  client(clientId: string, options?: Reading<ClientWithPartner>): Promise<ClientWithPartner | undefined>;
  partner(partnerId: string, options?: Reading<Partner>): Promise<Partner | undefined>;
  /** Returns an API key, also if it is revoked. */
  apiKey(keyId: string): Promise<ApiKey | undefined>;
  /** Returns the present status of an API key, from the database. */
  keyStatus(keyId: string): Promise<ApiKey['status'] | undefined>;
  /** Returns the API key that accepts this secret now, also if it is revoked. A malformed secret never reaches the database. */
  apiKeyBySecret(secret: string): Promise<ApiKey | undefined>;
  /** Makes all processes read a client or partner again. Call this after a change of the record. */
  changed(id: string): Promise<void>;
}

interface Stores {
  partners: Pick<PartnerStore, 'findAll'>;
  keys: Pick<KeyStore, 'findAll' | 'findByHashes' | 'statuses'>;
  clients: Pick<ClientStore, 'findAll'>;
  changes: ChangeStore;
}

interface Dependencies {
  stores: Stores;
  clock: Pick<Clock, 'now'>;
  /** Called when the secret with this hash has identified an active API key. */
  used: (key: ApiKey, hash: string) => void;
}

/** Makes the directory. Simultaneous reads of one kind share a round trip to the database (`createGroupCommit`). */
export function createDirectory({ stores, clock, used }: Dependencies): Directory {
  const { partners, keys, clients, changes } = stores;
  const cacheOf = <T>({ findAll }: { findAll(ids: readonly string[]): Promise<(T | undefined)[]> }) =>
    createDirectoryCache<T>(createGroupCommit({ run: findAll }));
  const partnerCache = cacheOf(partners);
  const clientCache = cacheOf(clients);
  /** Drops a partner or client, or all of them if no id is given. An id is in one of the two caches at most. */
  function forget(id?: string): void {
    partnerCache.forget(id);
    clientCache.forget(id);
  }
  /** Drops the records that other processes have changed. */
  const dropOutdated = createChangeWatch({ read: changes.read, onChange: forget });

  async function readPartner(partnerId: string, fresh: boolean): Promise<Partner | undefined> {
    if (!fresh) await dropOutdated();
    return partnerCache.read(partnerId, fresh);
  }

  async function readClient(clientId: string, fresh: boolean): Promise<ClientWithPartner | undefined> {
    if (!fresh) await dropOutdated();
    const client = await clientCache.read(clientId, fresh);
    const partner = client && (await partnerCache.read(client.partnerId, fresh));
    // Undefined if the client does not exist. Every client has a partner.
    return partner && { client, partner };
  }

  const readKey = createGroupCommit({ run: (ids: readonly string[]) => keys.findAll(ids) });
  const readStatus = createGroupCommit({ run: (ids: readonly string[]) => keys.statuses(ids) });
  const readKeyByHash = createGroupCommit({ run: (hashes: readonly string[]) => keys.findByHashes(hashes) });

  return {
    client: (clientId, options = {}) => readWith((fresh) => readClient(clientId, fresh), options),

    partner: (partnerId, options = {}) => readWith((fresh) => readPartner(partnerId, fresh), options),

    apiKey: (keyId) => readKey(keyId),

    keyStatus: (keyId) => readStatus(keyId),

    async apiKeyBySecret(secret) {
      if (!isWellFormedSecret('testKey', secret) && !isWellFormedSecret('liveKey', secret)) return undefined;
      const hash = sha256(secret);
      const key = await readKeyByHash(hash);
      if (!key) return undefined;
      const now = clock.now();
      // The database also finds a key by an old secret that has expired.
      const accepted = [key, ...(key.oldSecrets ?? []).filter((secret) => isLive(secret, now))];
      if (!accepted.some((secret) => sameText(secret.hash, hash))) return undefined;
      // The use of a revoked key is refused by the caller, so it is not noted.
      if (key.status === 'active') used(key, hash);
      return key;
    },

    async changed(id) {
      // This process drops the record immediately, the others when they read the list of changes.
      forget(id);
      await changes.add(id);
    },
  };
}
