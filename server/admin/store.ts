import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { type AuditStore, indexes as auditIndexes, createAuditStore } from './audit-store.ts';
import { type BacklogStore, createBacklogStore } from './backlog-store.ts';
import { createOperatorStore, type OperatorStore, indexes as operatorIndexes } from './operator-store.ts';
import { createOverviewStore, type OverviewStore } from './overview-store.ts';
import { createRequestStore, type RequestStore, indexes as requestIndexes } from './request-store.ts';

/** The stores of this feature. */
export interface AdminStores {
  operators: OperatorStore;
  audit: AuditStore;
  requests: RequestStore;
  backlog: BacklogStore;
  overview: OverviewStore;
}

export const indexes: IndexDeclaration[] = [...operatorIndexes, ...auditIndexes, ...requestIndexes];

export function createAdminStores(db: Db): AdminStores {
  const backlog = createBacklogStore(db);
  return {
    operators: createOperatorStore(db),
    audit: createAuditStore(db),
    requests: createRequestStore(db),
    backlog,
    overview: createOverviewStore(db, backlog),
  };
}
