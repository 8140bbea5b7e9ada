import { createAdminStores } from '../admin/store.ts';
import { createBillingStores } from '../billing/store.ts';
import { createPartnersStores } from '../partners/store.ts';
import type { Database } from '../platform/database/connect.ts';
import { createStorefrontStores } from '../storefront/store.ts';
import { createVerificationStores } from '../verification/store.ts';
import { createWebhooksStores } from '../webhooks/store.ts';

/** Everything that touches the database, one object a feature; long scans go through `patient`. */
export function createStores(db: Database['db'], patient = db) {
  return {
    admin: createAdminStores(db),
    billing: createBillingStores(db, patient),
    partners: createPartnersStores(db),
    storefront: createStorefrontStores(db),
    verification: createVerificationStores(db),
    webhooks: createWebhooksStores(db),
  };
}
export type Stores = ReturnType<typeof createStores>;
