import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { type AuditStore, indexes as auditIndexes, createAuditStore } from './audit-store.ts';
import { createOperatorStore, type OperatorStore, indexes as operatorIndexes } from './operator-store.ts';

/** What the admin listener keeps. */
export interface AdminStores {
  operators: OperatorStore;
  audit: AuditStore;
}

export const indexes: IndexDeclaration[] = [...operatorIndexes, ...auditIndexes];

export function createAdminStores(db: Db): AdminStores {
  return { operators: createOperatorStore(db), audit: createAuditStore(db) };
}
