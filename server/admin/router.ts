import type { createPartnersProcedures } from '../partners/admin.ts';
import type { createAuditLogProcedures } from './audit-log.ts';
import type { createOperatorProcedures } from './operators.ts';
import { router } from './procedures.ts';
import type { createStatusProcedure } from './status.ts';

/** The routers that features built, each from its own `admin.ts`. */
export interface AdminParts {
  partners: ReturnType<typeof createPartnersProcedures>;
  operators: ReturnType<typeof createOperatorProcedures>;
  auditLog: ReturnType<typeof createAuditLogProcedures>;
  status: ReturnType<typeof createStatusProcedure>;
}

/** The whole admin API, on one screen: `partners.create` is `svcadmin partners create`. */
export function createAdminRouter({ partners: { partners, keys, clients, webhooks }, ...parts }: AdminParts) {
  return router({
    partners,
    keys,
    clients,
    webhooks,
    operators: parts.operators,
    auditLog: parts.auditLog,
    status: parts.status,
  });
}

/** All that `svcadmin` knows of the server. */
export type AdminRouter = ReturnType<typeof createAdminRouter>;
