import { createStage } from '../platform/group-commit.ts';
import { isWellFormedSecret, sameText, sha256 } from '../platform/ids.ts';
import type { Client, ClientStore } from './client-store.ts';
import { createDirectoryCache } from './directory-cache.ts';
import type { ApiKey, KeyStore } from './key-store.ts';
import type { Partner, PartnerStore } from './partner-store.ts';

export interface Reading {
  /** Reads past the cache: for a verdict against the caller, which has to be re-read before it is sent. */
  fresh?: boolean;
}

/** Who is who. Found clients and partners are remembered for 2 s in this process; API keys never. */
export interface Directory {
  client(clientId: string, options?: Reading): Promise<{ client: Client; partner: Partner } | undefined>;
  partner(partnerId: string, options?: Reading): Promise<Partner | undefined>;
  /** The key whatever its status: the caller judges it. */
  apiKey(keyId: string): Promise<ApiKey | undefined>;
  /** Whether the key is active or revoked, as the database has it now. */
  keyStatus(keyId: string): Promise<ApiKey['status'] | undefined>;
  /** As `apiKey`, by the secret; a malformed one never reaches the database. */
  apiKeyBySecret(secret: string): Promise<ApiKey | undefined>;
  /** To be called when a client or partner has changed in this process. */
  forget(id: string): void;
}

interface Dependencies {
  partners: Pick<PartnerStore, 'findAll'>;
  keys: Pick<KeyStore, 'findAll' | 'findByHashes' | 'statuses'>;
  clients: Pick<ClientStore, 'findAll'>;
}

export function createDirectory({ partners, keys, clients }: Dependencies): Directory {
  const partnerMemory = createDirectoryCache(
    createStage({ run: (ids: readonly string[]) => partners.findAll(ids) }),
  );
  const clientMemory = createDirectoryCache(
    createStage({ run: (ids: readonly string[]) => clients.findAll(ids) }),
  );
  const readKey = createStage({ run: (ids: readonly string[]) => keys.findAll(ids) });
  const readStatus = createStage({ run: (ids: readonly string[]) => keys.statuses(ids) });
  const readKeyByHash = createStage({ run: (hashes: readonly string[]) => keys.findByHashes(hashes) });

  return {
    async client(clientId, { fresh = false } = {}) {
      const client = await clientMemory.read(clientId, fresh);
      const partner = client && (await partnerMemory.read(client.partnerId, fresh));
      return partner && { client, partner };
    },

    partner: (partnerId, { fresh = false } = {}) => partnerMemory.read(partnerId, fresh),

    apiKey: (keyId) => readKey(keyId),

    keyStatus: (keyId) => readStatus(keyId),

    async apiKeyBySecret(secret) {
      if (!isWellFormedSecret('testKey', secret) && !isWellFormedSecret('liveKey', secret)) return undefined;
      const hash = sha256(secret);
      const key = await readKeyByHash(hash);
      return key && sameText(key.hash, hash) ? key : undefined;
    },

    forget(id) {
      partnerMemory.forget(id);
      clientMemory.forget(id);
    },
  };
}
