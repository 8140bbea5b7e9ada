import { createTRPCClient, httpLink } from '@trpc/client';
import type { AdminRouter } from '../../server/admin/router.ts';
import { adminToken, type Site } from './site.ts';

export const redirectUri = 'http://localhost:9999/callback';
const plenty = 1_000_000;

/** What the operator of a partner types, as `svcadmin` sends it. */
export function operatorAt({ adminUrl }: Pick<Site, 'adminUrl'>) {
  const headers = { authorization: `Bearer ${adminToken}` };
  return createTRPCClient<AdminRouter>({ links: [httpLink({ url: `${adminUrl}/trpc`, headers })] });
}

/** A partner that nobody has used: active, with a key, a client without limits, and `funds` cents. */
export async function createPartner(site: Site, { funds, webhook }: { funds: number; webhook?: string }) {
  const { partners, keys, clients, webhooks, wallets, limits } = operatorAt(site);
  const { id: partnerId } = await partners.create.mutate({ name: 'Acme Cinema' });
  const wallet = { partnerId, mode: 'test' as const };
  const [key] = await Promise.all([
    keys.create.mutate(wallet),
    partners.activate.mutate({ partnerId }),
    wallets.fund.mutate({ ...wallet, amount: funds, reference: 'opening' }),
    limits.set.mutate({ ...wallet, perMinute: plenty, perHour: plenty }),
  ]);
  if (webhook) await webhooks.set.mutate({ keyId: key.id, url: webhook });
  const client = await clients.create.mutate({
    partnerId,
    keyId: key.id,
    name: 'Box office',
    redirectUris: [redirectUri],
    claims: ['age_18_plus'],
    kind: 'oauth',
    tokenRequestsPerMinute: plenty,
    userinfoRequestsPerMinute: plenty,
  });
  return {
    partnerId,
    keyId: key.id,
    clientId: client.id,
    clientSecret: client.clientSecret,
    walletId: `${partnerId}:test`,
    funds,
  };
}
export type Partner = Awaited<ReturnType<typeof createPartner>>;
