import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { createJointReads } from '../platform/database/joint-reads.ts';
import { createChangeStore } from './change-store.ts';
import { indexes as clientIndexes, createClientStore } from './client-store.ts';
import { createKeyStore, indexes as keyIndexes } from './key-store.ts';
import { createLogoStore } from './logo-store.ts';
import { createPartnerStore, indexes as partnerIndexes } from './partner-store.ts';
import { createSearchStore } from './search-store.ts';

export const indexes: IndexDeclaration[] = [...partnerIndexes, ...keyIndexes, ...clientIndexes];

/** The stores of this feature. */
export const createPartnersStores = (db: Db, read = createJointReads(db)) => ({
  partners: createPartnerStore(db),
  keys: createKeyStore(db, read),
  clients: createClientStore(db),
  logos: createLogoStore(db),
  search: createSearchStore(db),
  changes: createChangeStore(db),
});
export type PartnersStores = ReturnType<typeof createPartnersStores>;
