import type { FastifyPluginAsync } from 'fastify';
import type { createWalletsFeature } from '../../billing/wallets/feature.ts';
import { opsRoutes, processMetricsRoutes } from '../../console/ops/ops-routes.ts';
import { createAdminRouter } from '../../operations/admin-router.ts';
import { viewEntry } from '../../operations/audit/audit-log.ts';
import { createAdmin } from '../../operations/feature.ts';
import type { Foundation } from '../../operations/foundation.ts';
import type { Metrics } from '../../operations/metrics/metrics.ts';
import { createOwnRecords } from '../../operations/own-records.ts';
import { adminRoutes } from '../../operations/routes.ts';
import type { Stores } from '../../operations/stores.ts';
import type { createWarnings } from '../../operations/warnings/feature.ts';
import type { Verification } from '../../pages/feature.ts';
import type { PartnersFeature } from '../../partners/feature.ts';
import { createMemberProcedures } from '../../partners/members/admin.ts';
import type { MemberMail } from '../../partners/members/member-mail.ts';
import type { PartnerNames } from '../../platform/database/partner-names.ts';
import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';
import { createWebhookProcedures } from '../../webhooks/admin.ts';
import { createWhyOff } from '../../webhooks/delivery/endpoint.ts';
import { createRequireKey } from '../../webhooks/operators/endpoints/key-owner.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';

interface Parts {
  stores: Stores;
  limit: RequestLimit;
  partnerNames: PartnerNames;
  metrics: Metrics;
  partners: PartnersFeature;
  wallets: ReturnType<typeof createWalletsFeature>;
  verification: Verification;
  warnings: ReturnType<typeof createWarnings>;
  webhooks: Webhooks;
  memberMail: MemberMail;
}

/** Makes the parts for operators and members: the admin API over all features, the pages for ops, and what the portal is made of. */
export function createOperators(foundation: Foundation, parts: Parts) {
  const { config, clock, keyring, processes, logger, databaseFault } = foundation;
  const { stores, limit, partnerNames, metrics } = parts;
  const { partners, wallets, verification, warnings, webhooks } = parts;
  const { directory } = partners;

  const admin = createAdmin(foundation, {
    ...{ stores, metrics, partnerNames },
    readQueue: webhooks.context.deliveryQueries.queue,
  });
  const members = createMemberProcedures({
    stores: stores.members,
    isOn: config.portal,
    clock,
    idKey: keyring.id,
    requirePartner: partners.partners.show,
    baseUrl: config.baseUrl,
    mailOwners: parts.memberMail.toOwners,
    auditEntriesOf: async (partnerId, page) =>
      (await stores.admin.audit.list({ partnerId, changesOnly: true, ...page })).map(viewEntry),
  });
  const router = createAdminRouter({
    admin: admin.procedures,
    partners: partners.procedures,
    wallets: wallets.procedures,
    verification: verification.procedures,
    others: { members, warnings: warnings.procedures },
    webhooks: createWebhookProcedures({
      ...webhooks.context,
      partnerNames,
      requireKey: createRequireKey(directory.apiKey),
      pauses: (keyIds) => stores.partners.keys.pauses(keyIds, clock.now()),
      hasWorker: () => processes.hasRole('worker'),
      whyOff: createWhyOff(directory),
      subjectOf: async (id) => (await stores.verification.enrollments.find(id))?.sub,
    }),
  });

  // The portal is a client of the admin API, so it stands above this folder. `app.ts` creates it.
  const portalParts = {
    stores: stores.members,
    clock,
    keyring,
    limit,
    logger,
    router,
    recordCall: admin.auditLog.recordCall,
    mailMember: parts.memberMail.toMember,
    findForeign: createOwnRecords(stores, clock),
    showPartner: partners.partners.show,
    onShed: metrics.shed,
    previewConsent: verification.previewConsent,
    about: admin.about,
  };

  // The ops page reads through the same procedures, as a caller with the role ops.
  const { about, authenticate, auditLog } = admin;
  const { overview, backlog } = stores.admin;
  const { environment, baseUrl } = about;
  const routes: FastifyPluginAsync = async (scope) => {
    await scope.register(adminRoutes({ environment, router, authenticate, clock, auditLog }));
    await scope.register(
      opsRoutes({
        authenticate,
        overview,
        backlog,
        readProcesses: processes.survey,
        metrics,
        clock,
        log: logger,
        databaseFault,
        router,
        guides: `${baseUrl}/docs`,
      }),
    );
  };
  return {
    admin: { ...admin, router, routes, metricsRoutes: processMetricsRoutes(authenticate, metrics) },
    portalParts,
  };
}
