import { createClient, type Options } from '../../sdk/typescript/src/client.ts';
import { createShop } from '../api/storefront/shop.ts';
import { createPartner, redirectUri } from '../harness/partner.ts';
import type { TestServer } from '../harness/server.ts';

/** Creates a partner, and returns it with the settings of a client library. */
export async function createAccount(server: TestServer) {
  const partner = await createPartner(server);
  const { clientId, clientSecret, apiKey } = partner;
  return { partner, settings: { baseUrl: server.baseUrl, clientId, clientSecret, redirectUri, apiKey } };
}

/** Creates a shop, and returns the settings of a client library for it. */
export async function createShopAccount(server: TestServer) {
  const { clientId, integrationId, integrationSecret } = await createShop(server);
  return { baseUrl: server.baseUrl, clientId, redirectUri, integrationId, integrationSecret };
}

/** Creates a client that records its waits instead of waiting. */
export function createClientWithoutWaits(
  settings: Parameters<typeof createClient>[0],
  options: Options = {},
) {
  const waits: number[] = [];
  const sleep = async (ms: number) => void waits.push(ms);
  return { waits, client: createClient(settings, { sleep, ...options }) };
}
