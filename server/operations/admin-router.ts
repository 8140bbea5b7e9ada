import type { WalletsFeature } from '../billing/wallets/feature.ts';
import type { PartnersFeature } from '../partners/feature.ts';
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
  webhooks: ReturnType<typeof createWebhookProcedures>;
  admin: Admin['procedures'];
  /** Routers of rooms that have one. */
  others: {
    members: ReturnType<typeof createMemberProcedures>;
    warnings: ReturnType<typeof createWarningProcedures>;
  };
}

/**
 * Makes the whole admin API. The rooms name their procedures as the commands: `partners.create` is the command
 * `svcadmin partners create`.
 */
export function createAdminRouter({ partners, wallets, verification, webhooks, admin, others }: AdminParts) {
  return router({
    ...partners,
    ...wallets,
    ...verification,
    ...webhooks,
    ...admin,
    ...others,
    // An endpoint is a part of its API key, so some of its procedures are those of partners.
    webhooks: mergeRouters(partners.webhooks, webhooks.webhooks),
  });
}

/** The type of the admin API, which `svcadmin` imports. */
export type AdminRouter = ReturnType<typeof createAdminRouter>;
