import type { WalletsFeature } from '../billing/wallets/feature.ts';
import type { PartnersFeature } from '../partners/feature.ts';
import type { Integrations } from '../partners/integrations/admin-integrations.ts';
import type { createMemberProcedures } from '../partners/members/admin.ts';
import type { createVerificationProcedures } from '../people/admin.ts';
import { mergeRouters, router } from '../platform/admin-api/procedures.ts';
import type { createWebhookProcedures } from '../webhooks/admin.ts';
import type { Admin } from './feature.ts';
import type { createWarningProcedures } from './warnings/admin.ts';

interface AdminParts {
  partners: PartnersFeature['procedures'];
  wallets: WalletsFeature['procedures'];
  verification: ReturnType<typeof createVerificationProcedures>;
  integrations: Integrations['procedures'];
  webhooks: ReturnType<typeof createWebhookProcedures>;
  members: ReturnType<typeof createMemberProcedures>;
  warnings: ReturnType<typeof createWarningProcedures>;
  admin: Admin['procedures'];
}

/** Makes the whole admin API. The procedure `partners.create` is the command `svcadmin partners create`. */
export function createAdminRouter({ partners, wallets, verification, admin, ...parts }: AdminParts) {
  const { webhooks } = parts;
  return router({
    partners: partners.partners,
    brands: partners.brands,
    keys: partners.keys,
    clients: partners.clients,
    webhooks: mergeRouters(partners.webhooks, webhooks.webhooks),
    integrations: parts.integrations,
    wallets: wallets.wallets,
    limits: wallets.limits,
    prices: wallets.prices,
    revenue: wallets.revenue,
    sources: verification.sources,
    sessions: verification.sessions,
    enrollments: verification.enrollments,
    users: verification.users,
    events: webhooks.events,
    deliveries: webhooks.deliveries,
    bulk: webhooks.bulk,
    jobs: webhooks.jobs,
    members: parts.members,
    operators: admin.operators,
    keyring: admin.keyring,
    auditLog: admin.auditLog,
    requests: admin.requests,
    warnings: parts.warnings,
    schema: admin.schema,
    secrets: admin.secrets,
    status: admin.status,
  });
}

/** The type of the admin API, which `svcadmin` imports. */
export type AdminRouter = ReturnType<typeof createAdminRouter>;
