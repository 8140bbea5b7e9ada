import type { Db } from 'mongodb';
import { createRecordStore, type RecordStore } from '../platform/database/records.ts';
import { type Integration, indexes, integrationCollection } from './integration-store.ts';

/** The stores of this feature. */
export interface StorefrontStores {
  integrations: RecordStore<Integration>;
}

export { indexes };

export function createStorefrontStores(db: Db): StorefrontStores {
  return {
    integrations: createRecordStore<Integration>(db, integrationCollection, 'storefront integration'),
  };
}
