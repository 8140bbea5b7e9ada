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

export interface Reading<T> {
  /** Reads the database. */
  fresh?: boolean;
  /** What the caller needs of the record. Where a cached record does not satisfy it, the database is read. */
  until?: (found: T) => boolean;
}

interface ClientWithPartner {
  client: Client;
  partner: Partner;
}

async function reading<T>(
  read: (fresh: boolean) => Promise<T | undefined>,
  { fresh = false, until }: Reading<T>,
) {
  const found = await read(fresh);
  return found && !fresh && until && !until(found) ? read(true) : found;
}

/**
 * Partners, clients and API keys. This process caches clients and partners; it learns within 2 s which of them another process has
 * changed. API keys are never cached.
 */
export interface Directory {
  client(clientId: string, options?: Reading<ClientWithPartner>): Promise<ClientWithPartner | undefined>;
  partner(partnerId: string, options?: Reading<Partner>): Promise<Partner | undefined>;
  /** The key with any status. */
  apiKey(keyId: string): Promise<ApiKey | undefined>;
  /** Whether the key is active or revoked, as the database has it now. */
  keyStatus(keyId: string): Promise<ApiKey['status'] | undefined>;
  /** As `apiKey`, by a secret that is accepted now; a malformed one never reaches the database. */
  apiKeyBySecret(secret: string): Promise<ApiKey | undefined>;
  /** Call this when a client or partner has changed: all processes read it again. */
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
  /** An active API key was presented by the secret with this hash. */
  used: (key: ApiKey, hash: string) => void;
}

export function createDirectory({ stores, clock, used }: Dependencies): Directory {
  const { partners, keys, clients, changes } = stores;
  const cacheOf = <T>({ findAll }: { findAll(ids: readonly string[]): Promise<(T | undefined)[]> }) =>
    createDirectoryCache<T>(createGroupCommit({ run: findAll }));
  const partnerCache = cacheOf(partners);
  const clientCache = cacheOf(clients);
  function forget(id?: string): void {
    partnerCache.forget(id);
    clientCache.forget(id);
  }
  const upToDate = createChangeWatch({ read: changes.read, onChange: forget });

  async function readPartner(partnerId: string, fresh: boolean): Promise<Partner | undefined> {
    if (!fresh) await upToDate();
    return partnerCache.read(partnerId, fresh);
  }
  async function readClient(clientId: string, fresh: boolean): Promise<ClientWithPartner | undefined> {
    if (!fresh) await upToDate();
    const client = await clientCache.read(clientId, fresh);
    const partner = client && (await partnerCache.read(client.partnerId, fresh));
    return partner && { client, partner };
  }

  const readKey = createGroupCommit({ run: (ids: readonly string[]) => keys.findAll(ids) });
  const readStatus = createGroupCommit({ run: (ids: readonly string[]) => keys.statuses(ids) });
  const readKeyByHash = createGroupCommit({ run: (hashes: readonly string[]) => keys.findByHashes(hashes) });

  return {
    client: (clientId, options = {}) => reading((fresh) => readClient(clientId, fresh), options),

    partner: (partnerId, options = {}) => reading((fresh) => readPartner(partnerId, fresh), options),

    apiKey: (keyId) => readKey(keyId),

    keyStatus: (keyId) => readStatus(keyId),

    async apiKeyBySecret(secret) {
      if (!isWellFormedSecret('testKey', secret) && !isWellFormedSecret('liveKey', secret)) return undefined;
      const hash = sha256(secret);
      const key = await readKeyByHash(hash);
      if (!key) return undefined;
      const now = clock.now();
      const old = (key.oldSecrets ?? []).filter((secret) => isLive(secret, now));
      if (![key, ...old].some((secret) => sameText(secret.hash, hash))) return undefined;
      if (key.status === 'active') used(key, hash);
      return key;
    },

    async changed(id) {
      forget(id);
      await changes.add(id);
    },
  };
}
