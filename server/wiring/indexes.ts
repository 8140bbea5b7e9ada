import { indexes as admin } from '../admin/store.ts';
import { indexes as billing } from '../billing/store.ts';
import { indexes as partners } from '../partners/store.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { indexes as processes } from '../platform/processes.ts';
import { indexes as requestLimits } from '../platform/request-limits.ts';
import { indexes as scheduler } from '../platform/scheduler.ts';
import { indexes as integrations } from '../storefront/integration-store.ts';
import { indexes as verification } from '../verification/store.ts';
import { indexes as deliveries } from '../webhooks/delivery/delivery-store.ts';
import { indexes as events } from '../webhooks/delivery/event-store.ts';

/** Every index that any store declares; made at start, and held against the database by a test. */
export const indexes: readonly IndexDeclaration[] = [
  ...partners,
  ...verification,
  ...billing,
  ...integrations,
  ...events,
  ...deliveries,
  ...admin,
  ...processes,
  ...requestLimits,
  ...scheduler,
];
