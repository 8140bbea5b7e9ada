import type { createAuditLogProcedures } from '../admin/audit-log.ts';
import type { createKeyringProcedures } from '../admin/keyring.ts';
import type { createOperatorProcedures } from '../admin/operators.ts';
import type { createRequestProcedures } from '../admin/request-queries.ts';
import type { createSchemaProcedures } from '../admin/schema.ts';
import type { createSecretProcedures } from '../admin/secrets.ts';
import type { createStatusProcedure } from '../admin/status.ts';
import type { createPartnersProcedures } from '../partners/admin.ts';
import { mergeRouters, router } from '../platform/admin-api/procedures.ts';
import type { createMemberProcedures } from '../portal/admin.ts';
import type { createStorefrontProcedures } from '../storefront/admin.ts';
import type { createVerificationProcedures } from '../verification/admin.ts';
import type { createWalletsProcedures } from '../wallets/admin.ts';
import type { createWarningProcedures } from '../warnings/admin.ts';
import type { createWebhookProcedures } from '../webhooks/admin.ts';

/** The routers that features built, each from its own `admin.ts`. */
export interface AdminParts {
  partners: ReturnType<typeof createPartnersProcedures>;
  wallets: ReturnType<typeof createWalletsProcedures>;
  verification: ReturnType<typeof createVerificationProcedures>;
  storefront: ReturnType<typeof createStorefrontProcedures>;
  webhooks: ReturnType<typeof createWebhookProcedures>;
  members: ReturnType<typeof createMemberProcedures>;
  warnings: ReturnType<typeof createWarningProcedures>;
  operators: ReturnType<typeof createOperatorProcedures>;
  keyring: ReturnType<typeof createKeyringProcedures>;
  auditLog: ReturnType<typeof createAuditLogProcedures>;
  requests: ReturnType<typeof createRequestProcedures>;
  schema: ReturnType<typeof createSchemaProcedures>;
  secrets: ReturnType<typeof createSecretProcedures>;
  status: ReturnType<typeof createStatusProcedure>;
}

/** The whole admin API, on one screen: `partners.create` is `svcadmin partners create`. */
export function createAdminRouter({ partners, wallets, verification, ...parts }: AdminParts) {
  const { webhooks, storefront } = parts;
  return router({
    partners: partners.partners,
    keys: partners.keys,
    clients: partners.clients,
    webhooks: mergeRouters(partners.webhooks, webhooks.webhooks),
    integrations: storefront.integrations,
    wallets: wallets.wallets,
    limits: wallets.limits,
    prices: wallets.prices,
    sources: verification.sources,
    sessions: verification.sessions,
    enrollments: verification.enrollments,
    users: verification.users,
    events: webhooks.events,
    deliveries: webhooks.deliveries,
    bulk: webhooks.bulk,
    jobs: webhooks.jobs,
    members: parts.members,
    operators: parts.operators,
    keyring: parts.keyring,
    auditLog: parts.auditLog,
    requests: parts.requests,
    warnings: parts.warnings,
    schema: parts.schema,
    secrets: parts.secrets,
    status: parts.status,
  });
}

/** All that `svcadmin` knows of the server. */
export type AdminRouter = ReturnType<typeof createAdminRouter>;
