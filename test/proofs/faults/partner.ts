import { createTRPCClient, httpLink } from '@trpc/client';
import type { AdminRouter } from '../../../server/operations/admin-router.ts';
import { adminToken, type Environment } from './environment.ts';
import { retry } from './retry.ts';

export const redirectUri = 'http://localhost:9999/callback';
/** A request limit far above what a run needs. */
export const unlimited = 1_000_000;
/** The price of an exchange in cents. */
export const price = 1_000;

/** Creates a client for the commands of an operator, as `svcadmin` sends them. */
export function operatorAt({ adminUrl }: Pick<Environment, 'adminUrl'>) {
  const headers = { authorization: `Bearer ${adminToken}` };
  return createTRPCClient<AdminRouter>({ links: [httpLink({ url: `${adminUrl}/trpc`, headers })] });
}

interface PartnerSettings {
  /** The balance in cents. */
  funds: number;
  /** The spend cap. */
  perHour?: number;
  webhook?: string;
  /** Returns whether a wallet is suitable. If it is not, another partner is created. */
  accepts?: (walletId: string) => Promise<boolean>;
}

/** The most partners that are created to find a wallet of a given writer. */
const mostTries = 100;

async function createOnce(
  environment: Pick<Environment, 'adminUrl'>,
  { funds, perHour = unlimited, webhook, accepts = async () => true }: PartnerSettings,
) {
  const { partners, keys, clients, webhooks, wallets, limits, prices } = operatorAt(environment);
  const create = async () => (await partners.create.mutate({ name: 'Acme Cinema' })).id;
  let partnerId = await create();
  for (let tries = 1; !(await accepts(`${partnerId}:test`)); tries += 1) {
    if (tries === mostTries)
      throw new Error(`none of ${mostTries} wallets has the writer that the point needs`);
    partnerId = await create();
  }
  const wallet = { partnerId, mode: 'test' as const };
  const [key] = await Promise.all([
    keys.create.mutate(wallet),
    partners.activate.mutate({ partnerId }),
    wallets.fund.mutate({ ...wallet, amount: funds, reference: 'opening' }),
    limits.set.mutate({ ...wallet, perMinute: unlimited, perHour }),
  ]);
  await prices.set.mutate({ partnerId, kind: 'token', cents: price });
  if (webhook) await webhooks.set.mutate({ keyId: key.id, url: webhook });
  const client = await clients.create.mutate({
    partnerId,
    keyId: key.id,
    name: 'Box office',
    redirectUris: [redirectUri],
    claims: ['age_18_plus'],
    kind: 'oauth',
    tokenRequestsPerMinute: unlimited,
    userinfoRequestsPerMinute: unlimited,
  });
  return {
    partnerId,
    keyId: key.id,
    clientId: client.id,
    clientSecret: client.clientSecret,
    walletId: `${partnerId}:test`,
  };
}
export type Partner = Awaited<ReturnType<typeof createOnce>>;

/**
 * Creates an active partner with a key, a client without request limits, and `funds` cents. After an error, such as 503 of a busy
 * machine, it begins again with another partner.
 */
export const createPartner = (...parameters: Parameters<typeof createOnce>): Promise<Partner> =>
  retry(() => createOnce(...parameters));
