import type { Db } from 'mongodb';
import { createAuditStore } from './audit/audit-store.ts';
import { createBacklogStore } from './metrics/backlog-store.ts';
import { createOperatorStore } from './operators/operator-store.ts';
import { createOverviewStore } from './overview/overview-store.ts';
import { createRequestGapStore } from './requests/request-gap-store.ts';
import { createRequestStore } from './requests/request-store.ts';

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
