import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/schema/indexes.ts';
import { indexes as auditIndexes, createAuditStore } from './audit/audit-store.ts';
import { createBacklogStore } from './metrics/backlog-store.ts';
import { createOperatorStore, indexes as operatorIndexes } from './operators/operator-store.ts';
import { createOverviewStore } from './overview/overview-store.ts';
import { createRequestGapStore, indexes as gapIndexes } from './requests/request-gap-store.ts';
import { createRequestStore, indexes as requestIndexes } from './requests/request-store.ts';

export const indexes: IndexDeclaration[] = [
  ...operatorIndexes,
  ...auditIndexes,
  ...requestIndexes,
  ...gapIndexes,
];

export type AdminStores = ReturnType<typeof createAdminStores>;

export function createAdminStores(db: Db) {
  const backlog = createBacklogStore(db);
  const requests = createRequestStore(db);
  const gaps = createRequestGapStore(db);
  return {
    operators: createOperatorStore(db),
    audit: createAuditStore(db),
    requests,
    gaps,
    backlog,
    overview: createOverviewStore(db, { backlog, requests, gaps }),
  };
}
