import { createClient, type Options } from '../../sdk/typescript/src/client.ts';
import { createPartner, redirectUri } from '../harness/partner.ts';
import type { TestServer } from '../harness/server.ts';
import { createShop } from '../storefront/shop.ts';

/** An account at a server, as the settings of a client library. */
export async function createAccount(server: TestServer) {
  const partner = await createPartner(server);
  const { clientId, clientSecret, apiKey } = partner;
  return { partner, settings: { baseUrl: server.baseUrl, clientId, clientSecret, redirectUri, apiKey } };
}

/** The same of a shop. */
export async function createShopAccount(server: TestServer) {
  const { clientId, integrationId, integrationSecret } = await createShop(server);
  return { baseUrl: server.baseUrl, clientId, redirectUri, integrationId, integrationSecret };
}

/** A client that notes how long it waits, and does not wait. */
export function impatientClient(settings: Parameters<typeof createClient>[0], options: Options = {}) {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  return { waits, client: createClient(settings, { sleep, ...options }) };
}
