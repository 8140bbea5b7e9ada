import { createBillingStores } from '../billing/store.ts';
import { createWalletsStores } from '../billing/wallets/store.ts';
import { createMembersStores } from '../partners/members/store.ts';
import { createPartnersStores } from '../partners/store.ts';
import { createVerificationStores } from '../people/store.ts';
import type { Database } from '../platform/database/connect.ts';
import { createJointReads } from '../platform/database/reads/joint-reads.ts';
import { createWebhooksStores } from '../webhooks/store.ts';
import { createAuditStore } from './audit/audit-store.ts';
import { createBacklogStore } from './metrics/backlog-store.ts';
import { createOperatorStore } from './operators/operator-store.ts';
import { createOverviewStore } from './overview/overview-store.ts';
import { createRequestGapStore } from './requests/request-gap-store.ts';
import { createRequestStore } from './requests/request-store.ts';
import { createServiceHourStore } from './service-status/service-hour-store.ts';
import { createExpiringSecretStore } from './warnings/expiring-secret-store.ts';
import { createWarningStore } from './warnings/warning-store.ts';

/**
 * Makes the stores of all features. Only stores use the database.
 * @param maintenance the same database through connections with longer timeouts, for long scans
 */
export function createStores(db: Database['db'], maintenance = db) {
  const read = createJointReads(db);
  const backlog = createBacklogStore(db);
  const requests = createRequestStore(db);
  const gaps = createRequestGapStore(db);
  return {
    admin: {
      ...{ backlog, requests, gaps },
      operators: createOperatorStore(db),
      audit: createAuditStore(db),
      overview: createOverviewStore(db, { backlog, requests, gaps }),
    },
    billing: createBillingStores(db),
    partners: createPartnersStores(db, read),
    members: createMembersStores(db),
    status: { hours: createServiceHourStore(db) },
    verification: createVerificationStores(db, read),
    wallets: createWalletsStores(db, maintenance),
    warnings: {
      warnings: createWarningStore(db),
      expiringSecrets: createExpiringSecretStore(db),
    },
    webhooks: createWebhooksStores(db, maintenance),
  };
}
export type Stores = ReturnType<typeof createStores>;
