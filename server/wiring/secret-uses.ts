import type { ApiKey } from '../partners/key-store.ts';
import type { LastUses } from '../platform/keys/last-uses.ts';
import type { Integration } from '../storefront/integration-store.ts';

/** Where the last use of each kind of secret is kept: beside the secret. */
export function createSecretUses({ note }: Pick<LastUses, 'note'>) {
  return {
    /** An API key that was presented by the secret with this hash. */
    apiKey({ _id, hash: present, lastUsedAt, oldSecrets }: ApiKey, hash: string): void {
      const old = oldSecrets?.find((secret) => secret.hash === hash);
      note({
        collection: 'apiKeys',
        ...(hash === present
          ? { filter: { _id, hash }, field: 'lastUsedAt', lastUsedAt }
          : {
              filter: { _id, 'oldSecrets.hash': hash },
              field: 'oldSecrets.$.lastUsedAt',
              lastUsedAt: old?.lastUsedAt,
            }),
      });
    },

    /** A client that was recognised by the secret with this hash. */
    client(_id: string, hash: string, lastUsedAt: Date | undefined): void {
      const filter = { _id, 'secrets.hash': hash };
      note({ collection: 'clients', filter, field: 'secrets.$.lastUsedAt', lastUsedAt });
    },

    /** An integration whose secret of this version has signed a call. */
    integration({ _id, secretVersion, lastUsedAt, oldSecret }: Integration, version: number): void {
      note({
        collection: 'integrations',
        ...(version === secretVersion
          ? { filter: { _id, secretVersion }, field: 'lastUsedAt', lastUsedAt }
          : {
              filter: { _id, 'oldSecret.secretVersion': version },
              field: 'oldSecret.lastUsedAt',
              lastUsedAt: oldSecret?.lastUsedAt,
            }),
      });
    },

    /** A key whose present signing secret signs an attempt. */
    endpoint({ _id, webhook }: ApiKey): void {
      if (!webhook) return;
      const filter = { _id, 'webhook.secretVersion': webhook.secretVersion };
      note({ collection: 'apiKeys', filter, field: 'webhook.lastUsedAt', lastUsedAt: webhook.lastUsedAt });
    },
  };
}
export type SecretUses = ReturnType<typeof createSecretUses>;
