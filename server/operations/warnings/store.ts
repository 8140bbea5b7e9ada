import type { Db } from 'mongodb';
import { createExpiringSecretStore } from './expiring-secret-store.ts';
import { createWarningStore, indexes } from './warning-store.ts';

export { indexes };

/** The stores of this feature. */
export const createWarningsStores = (db: Db) => ({
  warnings: createWarningStore(db),
  expiringSecrets: createExpiringSecretStore(db),
});
