import { indexes as billing } from '../../billing/store.ts';
import { indexes as wallets } from '../../billing/wallets/store.ts';
import { indexes as status } from '../../operations/service-status/store.ts';
import { indexes as admin } from '../../operations/store.ts';
import { indexes as warnings } from '../../operations/warnings/store.ts';
import { indexes as storefront } from '../../partners/integrations/store.ts';
import { indexes as members } from '../../partners/members/store.ts';
import { indexes as partners } from '../../partners/store.ts';
import { indexes as verification } from '../../people/store.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { indexes as requestLimits } from '../../platform/http/limits/request-counters.ts';
import { indexes as processes } from '../../platform/jobs/processes.ts';
import { indexes as scheduler } from '../../platform/jobs/scheduler.ts';
import { indexes as webhooks } from '../../webhooks/store.ts';

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
