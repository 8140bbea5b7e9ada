import type { LastUses } from '../../platform/keys/last-uses.ts';
import { collection as clientCollection } from '../clients/client-store.ts';
import type { Integration } from '../integrations/integration-store.ts';
import type { ApiKey } from './key-store.ts';
import { collection as keyCollection } from './key-store.ts';

/**
 * Makes the functions that note when a secret was last used. The time is stored next to the secret. The filter names the secret
 * itself, so that the time is not stored for another secret if the secret was rotated meanwhile.
 */
export function createSecretUses({ note }: Pick<LastUses, 'note'>) {
  return {
    apiKey({ _id, hash: presentHash, lastUsedAt, oldSecrets }: ApiKey, hash: string): void {
      const collection = 'apiKeys';
      if (hash === presentHash) {
        note({ collection, filter: { _id, hash }, field: 'lastUsedAt', lastUsedAt });
      } else {
        const old = oldSecrets?.find((secret) => secret.hash === hash);
        const filter = { _id, 'oldSecrets.hash': hash };
        note({ collection, filter, field: 'oldSecrets.$.lastUsedAt', lastUsedAt: old?.lastUsedAt });
      }
    },

    /** Notes that the secret with this hash has identified a client. */
    client(_id: string, hash: string, lastUsedAt: Date | undefined): void {
      const filter = { _id, 'secrets.hash': hash };
      note({ collection: clientCollection, filter, field: 'secrets.$.lastUsedAt', lastUsedAt });
    },

    integration({ _id, secretVersion, lastUsedAt, oldSecret }: Integration, version: number): void {
      const collection = 'integrations';
      if (version === secretVersion) {
        note({ collection, filter: { _id, secretVersion }, field: 'lastUsedAt', lastUsedAt });
      } else {
        const filter = { _id, 'oldSecret.secretVersion': version };
        note({ collection, filter, field: 'oldSecret.lastUsedAt', lastUsedAt: oldSecret?.lastUsedAt });
      }
    },

    /** Notes that the current signing secret of a key signs a webhook attempt. */
    endpoint({ _id, webhook }: ApiKey): void {
      if (!webhook) return;
      const filter = { _id, 'webhook.secretVersion': webhook.secretVersion };
      note({
        collection: keyCollection,
        filter,
        field: 'webhook.lastUsedAt',
        lastUsedAt: webhook.lastUsedAt,
      });
    },
  };
}
export type SecretUses = ReturnType<typeof createSecretUses>;
