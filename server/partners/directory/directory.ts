import { createGroupCommit } from '../../platform/batching/group-commit.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Actor } from '../../platform/database/audit/audit-entry.ts';
import { createAuditedChange, type Decide } from '../../platform/database/audit/audited-change.ts';
import type { AuditedRecord, RecordStore } from '../../platform/database/records.ts';
import { isWellFormedSecret, sameText, sha256 } from '../../platform/ids.ts';
import type { Client } from '../clients/client-store.ts';
import type { ApiKey } from '../keys/key-store.ts';
import type { SecretUses } from '../keys/secret-uses.ts';
import { isLive } from '../keys/secrets.ts';
import type { Partner } from '../partner-store.ts';
import type { PartnersStores } from '../store.ts';
import { createChangeWatch } from './change-watch.ts';
import { createDirectoryCache } from './directory-cache.ts';

/** How to read a record. Without options, a cached one is good enough. */
export interface Reading<T> {
  /** Whether to read the database instead of the cache. */
  fresh?: boolean;
  /** Returns false for a cached record that is to be read again from the database, because it may be out of date. */
  acceptCached?: (found: T) => boolean;
}

interface ClientWithPartner {
  client: Client;
  partner: Partner;
}

interface Dependencies {
  stores: PartnersStores;
  clock: Pick<Clock, 'now'>;
  used: Pick<SecretUses, 'apiKey'>;
}

export type Directory = ReturnType<typeof createDirectory>;

/**
 * Finds partners, clients and API keys. Partners and clients are cached. This process learns within 2 s of the changes that other
 * processes make. API keys are never cached. Simultaneous reads of one kind share a round trip to the database.
 */
export function createDirectory({ stores, clock, used }: Dependencies) {
  const { partners, keys, clients, changes } = stores;
  const partnerCache = createDirectoryCache(createGroupCommit({ run: partners.findTogether }));
  const clientCache = createDirectoryCache(createGroupCommit({ run: clients.findAll }));
  /** Drops a partner or client, or all of them if no id is given. An id is in one of the two caches at most. */
  function forget(id?: string): void {
    partnerCache.forget(id);
    clientCache.forget(id);
  }
  /** Drops the records that other processes have changed. */
  const dropOutdated = createChangeWatch({ read: changes.read, onChange: forget });

  /** Reads a record with the caller's options. @param read `fresh` makes it read the database instead of the cache */
  async function readWith<T>(
    read: (fresh: boolean) => Promise<T | undefined>,
    { fresh = false, acceptCached = () => true }: Reading<T> = {},
  ): Promise<T | undefined> {
    if (fresh) return read(true);
    await dropOutdated();
    const found = await read(false);
    // The cache does not keep that a record is missing, so undefined comes from the database.
    return found === undefined || acceptCached(found) ? found : read(true);
  }

  async function readClient(clientId: string, fresh: boolean): Promise<ClientWithPartner | undefined> {
    const client = await clientCache.read(clientId, fresh);
    const partner = client && (await partnerCache.read(client.partnerId, fresh));
    // Undefined if the client does not exist. Every client has a partner.
    return partner && { client, partner };
  }

  const readKeyByHash = createGroupCommit({ run: keys.findByHashes });

  return {
    client: (clientId: string, options?: Reading<ClientWithPartner>) =>
      readWith((fresh) => readClient(clientId, fresh), options),

    partner: (partnerId: string, options?: Reading<Partner>) =>
      readWith((fresh) => partnerCache.read(partnerId, fresh), options),

    /** Returns an API key, also if it is revoked. */
    apiKey: createGroupCommit({ run: keys.findTogether }),

    keyStatus: createGroupCommit({ run: keys.statuses }),

    /** Returns the API key that accepts this secret now, also if it is revoked. A malformed secret never reaches the database. */
    async apiKeyBySecret(text: string): Promise<ApiKey | undefined> {
      if (!isWellFormedSecret('testKey', text) && !isWellFormedSecret('liveKey', text)) return undefined;
      const hash = sha256(text);
      const key = await readKeyByHash(hash);
      const now = clock.now();
      const isAccepted = (secret: { hash: string; expiresAt?: Date }) =>
        sameText(secret.hash, hash) && isLive(secret, now);
      // The database also finds a key by an old secret that has expired.
      if (!key || !(isAccepted(key) || key.oldSecrets?.some(isAccepted))) return undefined;
      // The use of a revoked key is refused by the caller, so it is not noted.
      if (key.status === 'active') used.apiKey(key, hash);
      return key;
    },

    /** Makes all processes read a client or partner again. Call this after a change of the record. */
    async changed(id: string): Promise<void> {
      // This process drops the record immediately, the others when they read the list of changes.
      forget(id);
      await changes.add(id);
    },
  };
}

/** Like `createAuditedChange`, for partners and clients: after each call, all processes read the record again. */
export function createCachedChange<R extends AuditedRecord>(
  store: Pick<RecordStore<R>, 'change'>,
  clock: Pick<Clock, 'now'>,
  directory: Pick<Directory, 'changed'>,
) {
  const change = createAuditedChange(store, clock);
  return async (id: string, actor: Actor, decide: Decide<R>): Promise<R> => {
    const record = await change(id, actor, decide);
    // Also if nothing was changed: a repeated call completes one that was interrupted after its change.
    await directory.changed(id);
    return record;
  };
}
