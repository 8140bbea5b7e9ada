import type { Db } from 'mongodb';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import { createRecordStore } from '../platform/database/records.ts';
import { createLogoStore } from './brands/logo-store.ts';
import { createClientStore } from './clients/client-store.ts';
import { createChangeStore } from './directory/change-store.ts';
import { type Integration, integrationCollection } from './integrations/integration-store.ts';
import { createKeyUseStore } from './key-use-store.ts';
import { createKeyStore } from './keys/key-store.ts';
import { createPartnerStore } from './partner-store.ts';
import { createSearchStore } from './search-store.ts';

export const createPartnersStores = (db: Db, read = createJointReads(db)) => ({
  partners: createPartnerStore(db, read),
  keys: createKeyStore(db, read),
  clients: createClientStore(db),
  integrations: createRecordStore<Integration>(db, integrationCollection, 'storefront integration'),
  logos: createLogoStore(db),
  keyUses: createKeyUseStore(db),
  search: createSearchStore(db),
  changes: createChangeStore(db),
});
export type PartnersStores = ReturnType<typeof createPartnersStores>;
