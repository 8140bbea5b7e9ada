import type { FastifyPluginAsync } from 'fastify';
import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/logging.ts';
import type { Sweep } from '../platform/outbox.ts';
import { createAuditLog, createAuditLogProcedures } from './audit-log.ts';
import { createAuthentication } from './authentication.ts';
import { createOperatorProcedures, createOperators } from './operators.ts';
import { type AdminParts, type AdminRouter, createAdminRouter } from './router.ts';
import { adminRoutes } from './routes.ts';
import { createStatusProcedure, type StatusSources } from './status.ts';
import type { AdminStores } from './store.ts';

interface Dependencies {
  stores: AdminStores;
  clock: Clock;
  log: Logger;
  /** SVC_ADMIN_TOKEN, or the generated one. */
  firstToken: string;
  status: Omit<StatusSources, 'clock'>;
  /** The routers of the features. */
  features: Omit<AdminParts, 'operators' | 'auditLog' | 'status'>;
}

/** The admin API: `routes` to be registered on the admin listener, `sweep` to be run with the others. */
export function createAdmin(dependencies: Dependencies): {
  router: AdminRouter;
  routes: FastifyPluginAsync;
  sweep: Sweep;
} {
  const { stores, clock, log, firstToken, status, features } = dependencies;
  const auditLog = createAuditLog({ store: stores.audit, clock, log });
  const router = createAdminRouter({
    ...features,
    operators: createOperatorProcedures(createOperators({ store: stores.operators, clock })),
    auditLog: createAuditLogProcedures(stores.audit),
    status: createStatusProcedure({ ...status, clock }),
  });
  const authenticate = createAuthentication({ store: stores.operators, clock, firstToken, log });
  return { router, routes: adminRoutes({ router, authenticate, auditLog }), sweep: auditLog };
}
