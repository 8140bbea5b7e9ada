import type { Db } from 'mongodb';
import { createRecordStore } from '../../platform/database/records.ts';
import { type Integration, indexes, integrationCollection } from './integration-store.ts';

export { indexes };

/** The stores of this feature. */
export const createStorefrontStores = (db: Db) => ({
  integrations: createRecordStore<Integration>(db, integrationCollection, 'storefront integration'),
});
export type StorefrontStores = ReturnType<typeof createStorefrontStores>;
