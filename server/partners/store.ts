import type { Db } from 'mongodb';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import { createLogoStore } from './brands/logo-store.ts';
import { createClientStore } from './clients/client-store.ts';
import { createChangeStore } from './directory/change-store.ts';
import { createKeyUseStore } from './key-use-store.ts';
import { createKeyStore } from './keys/key-store.ts';
import { createPartnerStore } from './partner-store.ts';
import { createSearchStore } from './search-store.ts';

export const createPartnersStores = (db: Db, read = createJointReads(db)) => ({
  partners: createPartnerStore(db, read),
  keys: createKeyStore(db, read),
  clients: createClientStore(db),
  logos: createLogoStore(db),
  keyUses: createKeyUseStore(db),
  search: createSearchStore(db),
  changes: createChangeStore(db),
});
export type PartnersStores = ReturnType<typeof createPartnersStores>;
