import type { AddressInfo } from 'node:net';
import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import { type Admin, createAdmin } from '../../server/admin/feature.ts';
import { createMetrics } from '../../server/admin/metrics.ts';
import { createAdminStores } from '../../server/admin/store.ts';
import { createBillingFeature } from '../../server/billing/feature.ts';
import { createStatementSigner } from '../../server/billing/signed-statement.ts';
import { createBillingStores } from '../../server/billing/store.ts';
import { createPartnersFeature } from '../../server/partners/feature.ts';
import { createPartnersStores } from '../../server/partners/store.ts';
import { createHttpServer } from '../../server/platform/http/server.ts';
import { createKeyRotation } from '../../server/platform/key-rotation.ts';
import { loadKeyring } from '../../server/platform/keyring.ts';
import { createLogger } from '../../server/platform/logging.ts';
import { createProcessMetrics } from '../../server/platform/process-metrics.ts';
import { createProcesses } from '../../server/platform/processes.ts';
import { createRecordStore } from '../../server/platform/records.ts';
import { createScheduler } from '../../server/platform/scheduler.ts';
import { createSealing } from '../../server/platform/sealing.ts';
import { createUpgrade } from '../../server/platform/upgrade.ts';
import { createStorefrontProcedures } from '../../server/storefront/admin.ts';
import { customerHash } from '../../server/storefront/customer-hash.ts';
import { type Integration, integrationCollection } from '../../server/storefront/integration-store.ts';
import { createIntegrations } from '../../server/storefront/integrations.ts';
import { createVerificationProcedures } from '../../server/verification/admin.ts';
import { createBlocking } from '../../server/verification/people/blocking.ts';
import { createErasure } from '../../server/verification/people/erasure.ts';
import { createFreshness } from '../../server/verification/people/freshness.ts';
import { createRevising } from '../../server/verification/people/snapshot-invalidation.ts';
import { createSourceOverview } from '../../server/verification/sources/overview.ts';
import { createVerificationStores } from '../../server/verification/store.ts';
import { createWebhookProcedures } from '../../server/webhooks/admin.ts';
import { checkWebhookUrl } from '../../server/webhooks/egress/url.ts';
import { createWebhooks } from '../../server/webhooks/webhooks.ts';
import type { AdminRouter } from '../../server/wiring/admin-router.ts';
import { migrations } from '../../server/wiring/migrations.ts';
import { createPartnerNames } from '../../server/wiring/partner-names.ts';
import { sealedFields } from '../../server/wiring/sealed-fields.ts';
import { reportShards } from '../../server/wiring/shard-report.ts';
import { webhookEndpoint } from '../../server/wiring/webhook-endpoint.ts';
import { type FreshDatabase, preparedDatabase } from '../harness/database.ts';

export const firstToken = 'test-admin-token-of-32-characters-or-more';

export interface AdminServer {
  url: string;
  database: FreshDatabase;
  admin: Admin;
  partners: ReturnType<typeof createPartnersFeature>;
  /** Milliseconds that the server's clock is ahead. */
  clock: { ahead: number; now: () => number; trusted: () => boolean };
  /** Every procedure of the router, as `partners.create`. */
  procedures: string[];
  api: TRPCClient<AdminRouter>;
  apiAs: (token: string) => TRPCClient<AdminRouter>;
  close: () => Promise<void>;
}

interface Settings {
  environment?: 'development' | 'production';
}

/** The real admin listener with the real features behind it; webhooks go to localhost. */
export async function startAdminServer({ environment = 'development' }: Settings = {}): Promise<AdminServer> {
  const database = await preparedDatabase({ keep: true });
  const log = createLogger('silent');
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead, trusted: () => true };
  const sealing = createSealing([new Uint8Array(32).fill(7)]);
  const keyring = await loadKeyring(database.db, sealing);
  const { masterKeys } = sealing;
  const processes = createProcesses({ db: database.db, clock, roles: ['admin'], masterKeys });
  const idKey = new Uint8Array(32).fill(8);
  const scheduler = createScheduler({ db: database.db, logger: log, processEvery: 100 });
  const processMetrics = createProcessMetrics({ roles: ['admin'] });
  const metrics = createMetrics({
    process: processMetrics,
    tickAge: scheduler.tickAge,
  });
  const partnerNames = createPartnerNames(createPartnersStores(database.db).partners);
  const webhooks = createWebhooks({
    db: database.db,
    clock,
    idKey,
    scheduler,
    logger: log,
    sending: metrics.sending,
    endpoint: (keyId) => webhookEndpoint(keyId, partners.directory, sealing),
    retryDelays: [60_000, 300_000],
    localhostAllowed: true,
    ownPorts: () => [],
    worker: true,
    userAgent: 'SVC-Webhooks/test',
  });
  const billing = createBillingFeature({
    signStatement: createStatementSigner({
      keyring,
      issuer: 'http://localhost:8080',
      clock,
    }),
    stores: createBillingStores(database.db),
    clock,
    idKey,
    record: createAdminStores(database.db).audit.add,
    publish: webhooks.publish,
    partnerNames,
    logger: log,
    standardPrice: 50,
    prices: {
      read: async (partnerId) => (await partners.partners.show(partnerId)).prices ?? {},
      set: async (partnerId, price, actor) =>
        (await partners.partners.setPrice(partnerId, price, actor)).prices ?? {},
    },
  });
  const { sessions, enrollments, users } = createVerificationStores(database.db);
  const eraseElsewhere = async () => ({ accesses: 0, events: 0 });
  const revise = createRevising({ sessions, users, enrollments, clock, logger: log });
  const verification = createVerificationProcedures({
    sessions,
    enrollments,
    block: createBlocking({ enrollments, revise, clock }),
    users,
    erasure: createErasure({ users, enrollments, sessions, revise, eraseElsewhere, clock }),
    isFresh: createFreshness(),
    customerHash: (customer) => customerHash(idKey, customer),
    chargeOf: async () => undefined,
    sources: createSourceOverview({ sources: new Map(), wallets: new Map(), clock }),
    clock,
  });
  const partners = createPartnersFeature({
    stores: createPartnersStores(database.db),
    clock,
    sealing,
    openWallets: billing.openWallets,
    checkWebhookUrl: (url, mode) =>
      checkWebhookUrl(url, mode, { localhostAllowed: true, ownPorts: () => [] }),
  });
  const integrations = createIntegrations({
    store: createRecordStore<Integration>(database.db, integrationCollection, 'storefront integration'),
    sealing,
    clock,
    findClient: partners.directory.client,
  });
  const admin = createAdmin({
    existing: async (names) =>
      new Map(Object.values(names).flatMap((all) => all.map((name) => [name, { partnerId: 'ptr_named' }]))),
    partnerNames,
    stores: createAdminStores(database.db),
    clock,
    log,
    firstToken,
    metrics,
    requestsEvery: 1_000,
    status: {
      about: { version: '0.8.0', contract: '0.8.0', environment, baseUrl: 'http://localhost' },
      readQueue: webhooks.deliveries.queue,
      readProcesses: processes.list,
    },
    rotation: createKeyRotation({
      db: database.db,
      sealing,
      keyring,
      fields: sealedFields,
      processes,
      clock,
    }),
    shards: () => reportShards(database.db),
    upgrade: createUpgrade({ db: database.db, patient: database.db, migrations, processes, clock }),
    features: {
      partners: partners.procedures,
      billing: billing.procedures,
      verification,
      storefront: createStorefrontProcedures(integrations),
      webhooks: createWebhookProcedures({
        webhooks,
        findKey: partners.directory.apiKey,
        subjectOf: async () => undefined,
      }),
    },
  });
  await webhooks.start();
  const app = createHttpServer({ logger: log, trustProxy: false });
  processMetrics.observeAnswers(app);
  await app.register(admin.routes);
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const apiAs = (token: string) =>
    createTRPCClient<AdminRouter>({
      links: [httpLink({ url: `${url}/trpc`, headers: { authorization: `Bearer ${token}` } })],
    });
  return {
    url,
    database,
    admin,
    partners,
    clock,
    procedures: Object.keys(admin.router._def.procedures),
    api: apiAs(firstToken),
    apiAs,
    async close() {
      await app.close();
      await webhooks.stop();
      await database.drop();
    },
  };
}

/** The error code of the table that a call was refused with. */
export async function refusal(call: Promise<unknown>): Promise<unknown> {
  try {
    await call;
  } catch (error) {
    return (error as { data?: { error?: unknown } }).data?.error ?? error;
  }
  return 'no refusal';
}
