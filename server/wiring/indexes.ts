import { indexes as admin } from '../admin/store.ts';
import { indexes as billing } from '../billing/store.ts';
import { indexes as members } from '../members/store.ts';
import { indexes as partners } from '../partners/store.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { indexes as requestLimits } from '../platform/http/request-counters.ts';
import { indexes as processes } from '../platform/jobs/processes.ts';
import { indexes as scheduler } from '../platform/jobs/scheduler.ts';
import { indexes as status } from '../status/store.ts';
import { indexes as storefront } from '../storefront/store.ts';
import { indexes as verification } from '../verification/store.ts';
import { indexes as wallets } from '../wallets/store.ts';
import { indexes as warnings } from '../warnings/store.ts';
import { indexes as webhooks } from '../webhooks/store.ts';

/** The indexes of all stores. They are created at start, and a test compares them with the database. */
export const indexes: readonly IndexDeclaration[] = [
  ...partners,
  ...verification,
  ...billing,
  ...wallets,
  ...storefront,
  ...members,
  ...warnings,
  ...status,
  ...webhooks,
  ...admin,
  ...processes,
  ...requestLimits,
  ...scheduler,
];
