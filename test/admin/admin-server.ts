import type { AddressInfo } from 'node:net';
import { createTRPCClient, httpLink, type TRPCClient } from '@trpc/client';
import { createAdmin } from '../../server/admin/feature.ts';
import type { AdminRouter } from '../../server/admin/router.ts';
import { indexes as adminIndexes, createAdminStores } from '../../server/admin/store.ts';
import { createBillingFeature } from '../../server/billing/feature.ts';
import { indexes as billingIndexes, createBillingStores } from '../../server/billing/store.ts';
import { createPartnersFeature } from '../../server/partners/feature.ts';
import { createPartnersStores, indexes as partnerIndexes } from '../../server/partners/store.ts';
import { ensureIndexes } from '../../server/platform/database/indexes.ts';
import { createHttpServer } from '../../server/platform/http/server.ts';
import { createLogger } from '../../server/platform/logging.ts';
import { createSealing } from '../../server/platform/sealing.ts';
import { createVerificationProcedures } from '../../server/verification/admin.ts';
import { createVerificationStores, indexes as verificationIndexes } from '../../server/verification/store.ts';
import { type FreshDatabase, freshDatabase } from '../harness/database.ts';

export const firstToken = 'test-admin-token-of-32-characters-or-more';

export interface AdminServer {
  url: string;
  database: FreshDatabase;
  partners: ReturnType<typeof createPartnersFeature>;
  /** Milliseconds that the server's clock is ahead. */
  clock: { ahead: number; now: () => number; trusted: () => boolean };
  /** Every procedure of the router, as `partners.create`. */
  procedures: string[];
  api: TRPCClient<AdminRouter>;
  apiAs: (token: string) => TRPCClient<AdminRouter>;
  close: () => Promise<void>;
}

/** The real admin listener with partners, billing and verification behind it; nothing is ever sent anywhere. */
export async function startAdminServer(): Promise<AdminServer> {
  const database = await freshDatabase({ keep: true });
  await ensureIndexes(database.db, [
    ...adminIndexes,
    ...partnerIndexes,
    ...billingIndexes,
    ...verificationIndexes,
  ]);
  const log = createLogger('silent');
  const clock = { ahead: 0, now: () => Date.now() + clock.ahead, trusted: () => true };
  const billing = createBillingFeature({
    stores: createBillingStores(database.db),
    clock,
    idKey: new Uint8Array(32).fill(8),
    publish: async () => undefined,
    logger: log,
    standardPrice: 50,
    prices: {
      read: async (partnerId) => (await partners.partners.show(partnerId)).prices ?? {},
      set: async (partnerId, price, actor) =>
        (await partners.partners.setPrice(partnerId, price, actor)).prices ?? {},
    },
  });
  const { sessions, enrollments } = createVerificationStores(database.db);
  const verification = createVerificationProcedures({
    sessions,
    enrollments,
    chargeOf: async () => undefined,
    clock,
  });
  const partners = createPartnersFeature({
    stores: createPartnersStores(database.db),
    clock,
    sealing: createSealing([new Uint8Array(32).fill(7)]),
    openWallets: billing.openWallets,
    checkWebhookUrl: (url, mode) =>
      url.startsWith('https://') || mode === 'test' ? undefined : 'A live webhook URL must be https',
  });
  const admin = createAdmin({
    stores: createAdminStores(database.db),
    clock,
    log,
    firstToken,
    status: {
      about: { version: '0.8.0', contract: '0.8.0', environment: 'development', baseUrl: 'http://localhost' },
      readQueue: async () => ({ pending: 0 }),
    },
    features: { partners: partners.procedures, billing: billing.procedures, verification },
  });
  const app = createHttpServer({ logger: log, trustProxy: false });
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
    partners,
    clock,
    procedures: Object.keys(admin.router._def.procedures),
    api: apiAs(firstToken),
    apiAs,
    async close() {
      await app.close();
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
