import { createHmac, randomUUID } from 'node:crypto';
import { completeSession } from '../../harness/completed-session.ts';
import { createPartner, redirectUri, type TestPartner } from '../../harness/partner.ts';
import type { TestServer } from '../../harness/server.ts';

export const shopDomain = 'wine.example';

type Server = Pick<TestServer, 'admin' | 'baseUrl'>;

/** Creates a partner with a storefront client and an integration of two shops. */
export async function createShop(
  server: Server,
  wanted: Parameters<typeof createPartner>[1] = {},
): Promise<Shop> {
  const partner = await createPartner(server, {
    ...wanted,
    client: {
      kind: 'storefront',
      claims: ['age_18_plus', 'age_21_plus', 'country', 'assurance_level'],
      ...wanted.client,
    },
  });
  const integration = await server.admin.integrations.create.mutate({
    partnerId: partner.partnerId,
    clientId: partner.clientId,
    shops: [shopDomain, 'spirits.example'],
  });
  return { ...partner, integrationId: integration.id, integrationSecret: integration.integrationSecret };
}
export type Shop = TestPartner & { integrationId: string; integrationSecret: string };

/** Completes a session of a customer, and returns the code for the shop's server. */
export async function codeFor(
  server: Pick<TestServer, 'clock' | 'config' | 'db' | 'services'>,
  shop: Shop,
  person = 'adult',
  scope = 'age_18_plus country',
) {
  return (await completeSession(server, shop, person, scope)).code;
}

/** Returns the fields of a storefront exchange (interface 2.8). */
export function fields(code: string, changed: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    code,
    redirect_uri: redirectUri,
    shop_domain: shopDomain,
    customer_id: `customer-${randomUUID()}`,
    ...changed,
  };
}

/** Returns the three headers of interface 4.6 for a body. `at` is the time in milliseconds. */
export function sign(
  shop: Pick<Shop, 'integrationId' | 'integrationSecret'>,
  body: string | Uint8Array,
  at: number,
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1000));
  const mac = createHmac('sha256', shop.integrationSecret)
    .update(`${shop.integrationId}.${timestamp}.`)
    .update(body)
    .digest('hex');
  return {
    'x-svc-integration-id': shop.integrationId,
    'x-svc-timestamp': timestamp,
    'x-svc-signature': `sha256=${mac}`,
  };
}

/** Sends a storefront exchange with exactly these headers. The value undefined removes a header. */
export async function call(
  { baseUrl }: Pick<TestServer, 'baseUrl'>,
  body: string,
  headers: Record<string, string | undefined>,
) {
  const all: Record<string, string | undefined> = { 'content-type': 'application/json', ...headers };
  const given = Object.entries(all);
  const response = await fetch(`${baseUrl}/api/integrations/storefront/verify/exchange`, {
    method: 'POST',
    headers: Object.fromEntries(given.filter((pair): pair is [string, string] => pair[1] !== undefined)),
    body,
  });
  const answer: Record<string, unknown> = JSON.parse(await response.text());
  return { status: response.status, headers: response.headers, body: answer };
}
