import type { Db } from 'mongodb';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import type { IndexDeclaration } from '../platform/database/schema/indexes.ts';
import { createLogoStore } from './brands/logo-store.ts';
import { indexes as clientIndexes, createClientStore } from './clients/client-store.ts';
import { createChangeStore } from './directory/change-store.ts';
import { createKeyStore, indexes as keyIndexes } from './keys/key-store.ts';
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
