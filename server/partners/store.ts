import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { createJointReads } from '../platform/database/joint-reads.ts';
import { type ChangeStore, createChangeStore } from './change-store.ts';
import { type ClientStore, indexes as clientIndexes, createClientStore } from './client-store.ts';
import { createKeyStore, type KeyStore, indexes as keyIndexes } from './key-store.ts';
import { createLogoStore, type LogoStore } from './logo-store.ts';
import { createPartnerStore, type PartnerStore, indexes as partnerIndexes } from './partner-store.ts';
import { createSearchStore, type SearchStore } from './search-store.ts';

/** The stores of this feature. */
export interface PartnersStores {
  partners: PartnerStore;
  keys: KeyStore;
  clients: ClientStore;
  logos: LogoStore;
  search: SearchStore;
  changes: ChangeStore;
}

export const indexes: IndexDeclaration[] = [...partnerIndexes, ...keyIndexes, ...clientIndexes];

export function createPartnersStores(db: Db, read = createJointReads(db)): PartnersStores {
  return {
    partners: createPartnerStore(db),
    keys: createKeyStore(db, read),
    clients: createClientStore(db),
    logos: createLogoStore(db),
    search: createSearchStore(db),
    changes: createChangeStore(db),
  };
}
