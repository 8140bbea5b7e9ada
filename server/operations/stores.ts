import { createBillingStores } from '../billing/store.ts';
import { createWalletsStores } from '../billing/wallets/store.ts';
import { createStorefrontStores } from '../partners/integrations/store.ts';
import { createMembersStores } from '../partners/members/store.ts';
import { createPartnersStores } from '../partners/store.ts';
import { createVerificationStores } from '../people/store.ts';
import type { Database } from '../platform/database/connect.ts';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import { createWebhooksStores } from '../webhooks/store.ts';
import { createStatusStores } from './service-status/store.ts';
import { createAdminStores } from './store.ts';
import { createWarningsStores } from './warnings/store.ts';

/**
 * Makes the stores of all features. Only stores use the database.
 * @param maintenance the same database through connections with longer timeouts, for long scans
 */
export function createStores(db: Database['db'], maintenance = db) {
  const read = createJointReads(db);
  return {
    admin: createAdminStores(db),
    billing: createBillingStores(db),
    partners: createPartnersStores(db, read),
    members: createMembersStores(db),
    status: createStatusStores(db),
    storefront: createStorefrontStores(db),
    verification: createVerificationStores(db, read),
    wallets: createWalletsStores(db, maintenance),
    warnings: createWarningsStores(db),
    webhooks: createWebhooksStores(db, maintenance),
  };
}
export type Stores = ReturnType<typeof createStores>;
