import { createAdminStores } from '../admin/store.ts';
import { createBillingStores } from '../billing/store.ts';
import { createPartnersStores } from '../partners/store.ts';
import type { Database } from '../platform/database/connect.ts';
import { createRecordStore } from '../platform/records.ts';
import { type Integration, integrationCollection } from '../storefront/integration-store.ts';
import { createVerificationStores } from '../verification/store.ts';
import { createEventErasure } from '../webhooks/delivery/erasure-store.ts';

/** Everything that touches the database, one object a feature; long scans go through `patient`. */
export function createStores(db: Database['db'], patient = db) {
  return {
    admin: createAdminStores(db, patient),
    billing: createBillingStores(db, patient),
    partners: createPartnersStores(db),
    integrations: createRecordStore<Integration>(db, integrationCollection, 'storefront integration'),
    verification: createVerificationStores(db),
    eventErasure: createEventErasure(db),
  };
}
export type Stores = ReturnType<typeof createStores>;
