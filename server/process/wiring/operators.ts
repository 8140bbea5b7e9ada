import type { FastifyPluginAsync } from 'fastify';
import type { createWalletsFeature } from '../../billing/wallets/feature.ts';
import { opsRoutes, processMetricsRoutes } from '../../console/ops/ops-routes.ts';
import { createAdminRouter } from '../../operations/admin-router.ts';
import { viewEntry } from '../../operations/audit/audit-log.ts';
import { createAdmin } from '../../operations/feature.ts';
import type { Metrics } from '../../operations/metrics/metrics.ts';
import { createOwnRecords } from '../../operations/own-records.ts';
import { existingNames } from '../../operations/requests/existing-names.ts';
import { createFindInactive } from '../../operations/requests/inactive-records.ts';
import { adminRoutes } from '../../operations/routes.ts';
import { reportShards } from '../../operations/schema/shard-report.ts';
import { createSecretOwners } from '../../operations/secrets/secret-owners.ts';
import type { Stores } from '../../operations/stores.ts';
import type { createWarnings } from '../../operations/warnings/feature.ts';
import type { Verification } from '../../pages/feature.ts';
import type { PartnersFeature } from '../../partners/feature.ts';
import type { Integrations } from '../../partners/integrations/admin-integrations.ts';
import { createMemberProcedures } from '../../partners/members/admin.ts';
import type { MemberMail } from '../../partners/members/member-mail.ts';
import { createUserRecords } from '../../people/users/user-records.ts';
import type { Pace } from '../../platform/config/pace.ts';
import { version } from '../../platform/config/version.ts';
import type { PartnerNames } from '../../platform/database/partner-names.ts';
import { createUpgrade } from '../../platform/database/schema/upgrade.ts';
import type { RequestLimit } from '../../platform/http/limits/request-limits.ts';
import { createKeyRotation } from '../../platform/keys/key-rotation.ts';
import { createWebhookProcedures } from '../../webhooks/admin.ts';
import { createWhyOff } from '../../webhooks/delivery/endpoint.ts';
import { createEndpointHealth } from '../../webhooks/operators/endpoints/health.ts';
import { createRequireKey } from '../../webhooks/operators/endpoints/key-owner.ts';
import type { Webhooks } from '../../webhooks/webhooks.ts';
import type { Foundation } from './foundation.ts';
import { sealedFields } from './sealed-fields.ts';

interface Parts {
  stores: Stores;
  pace: Pace;
  limit: RequestLimit;
  partnerNames: PartnerNames;
  metrics: Metrics;
  partners: PartnersFeature;
  wallets: ReturnType<typeof createWalletsFeature>;
  verification: Verification;
  integrations: Integrations;
  warnings: ReturnType<typeof createWarnings>;
  webhooks: Webhooks;
  memberMail: MemberMail;
}

/** Makes the parts for operators and members: the admin API over all features, the pages for ops, and what the portal is made of. */
export function createOperators(foundation: Foundation, parts: Parts) {
  const { config, db, maintenance = db, clock, keyring, sealing, processes, logger, adminToken } = foundation;
  const { schema, databaseFault = () => undefined } = foundation;
  const { stores, pace, limit, partnerNames, metrics } = parts;
  const { partners, wallets, verification, integrations, warnings, webhooks } = parts;
  const { directory } = partners;

  const pauses = (keyIds: readonly string[]) => stores.partners.keys.pauses(keyIds, clock.now());
  const requireKey = createRequireKey(directory.apiKey);
  const hasWorker = () => processes.hasRole('worker');
  const whyOff = createWhyOff(directory);
  const readHealth = createEndpointHealth({ ...webhooks.context, requireKey, pauses, hasWorker, whyOff });
  const upgrade = createUpgrade({ db, maintenance, schema, processes, clock });
  const about = { version, contract: '0.8.0', environment: config.environment, baseUrl: config.baseUrl };
  const admin = createAdmin({
    stores: stores.admin,
    clock,
    log: logger,
    firstToken: adminToken,
    metrics,
    flushEvery: pace.requestsEvery,
    existing: (names) => existingNames(stores, names),
    partnerNames,
    status: { about, readQueue: webhooks.context.deliveryQueries.queue, readProcesses: processes.survey },
    rotation: createKeyRotation({ db, sealing, keyring, fields: sealedFields, processes, clock }),
    upgrade,
    shards: () => reportShards(db),
    databaseFault,
    findInactive: createFindInactive({
      ...stores.partners,
      ...stores.storefront,
      audit: stores.admin.audit,
    }),
    findSecret: createSecretOwners({ db, stores, sealing, clock }),
    recordsOfUser: createUserRecords(stores.verification),
  });
  const router = createAdminRouter({
    admin: admin.procedures,
    partners: partners.procedures,
    wallets: wallets.procedures,
    verification: verification.procedures,
    integrations: integrations.procedures,
    warnings: warnings.procedures,
    members: createMemberProcedures({
      stores: stores.members,
      isOn: config.portal,
      clock,
      idKey: keyring.id,
      requirePartner: partners.partners.show,
      baseUrl: config.baseUrl,
      mailOwners: parts.memberMail.toOwners,
      auditEntriesOf: async (partnerId, page) =>
        (await stores.admin.audit.list({ partnerId, changesOnly: true, ...page })).map(viewEntry),
    }),
    webhooks: createWebhookProcedures({
      webhooks,
      requireKey,
      partnerNames,
      pauses,
      hasWorker,
      whyOff,
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
    about,
  };

  // The ops page reads through the same procedures, as a caller with the role ops.
  const { authenticate, auditLog } = admin;
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
        // The page shows only the worst endpoints.
        readEndpoints: () => readHealth({ limit: 20 }),
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
    upgrade,
    portalParts,
  };
}
