import { type AdminApi, createAdminApi } from '../../cli/client.ts';
import { type Credentials, redirectUri } from './contender.ts';

/** A partner's client, as the records of its users name it. */
export interface Owner extends Credentials {
  partnerId: string;
  keyId: string;
}

interface Partners {
  hot: Owner;
  many: Owner[];
  /** Cents that were paid into all wallets, and that one exchange costs. */
  funded: number;
  price: number;
}

const most = 1_000_000;
const price = 50;
const hotFunds = 100_000_000;
const otherFunds = 5_000_000;
const atOnce = 16;

interface Opening {
  name: string;
  /** Cents to begin with. */
  amount: number;
  /** URL for the events of its key. */
  webhook?: string | undefined;
}

async function openPartner(admin: AdminApi, { name, amount, webhook }: Opening): Promise<Owner> {
  const { id: partnerId } = await admin.partners.create.mutate({ name });
  const wallet = { partnerId, mode: 'test' as const };
  const [{ id: keyId }] = await Promise.all([
    admin.keys.create.mutate(wallet),
    admin.partners.activate.mutate({ partnerId }),
    admin.wallets.fund.mutate({ ...wallet, amount, reference: 'bench' }),
    admin.limits.set.mutate({ ...wallet, perMinute: most, perHour: most }),
  ]);
  if (webhook !== undefined) await admin.webhooks.set.mutate({ keyId, url: webhook });
  const client = await admin.clients.create.mutate({
    partnerId,
    keyId,
    name,
    redirectUris: [redirectUri],
    claims: ['age_18_plus', 'identity_verified'],
    tokenRequestsPerMinute: most,
    userinfoRequestsPerMinute: most,
  });
  return { partnerId, keyId, clientId: client.id, clientSecret: client.clientSecret };
}

/**
 * One hot partner and a crowd of others, with money and without narrow limits, as support would set them up.
 * @param webhook where the events of the crowd's nth partner go; nowhere where it is undefined
 */
export async function openPartners(
  connection: { url: string; token: string },
  crowd: number,
  webhook: (n: number) => string | undefined = () => undefined,
): Promise<Partners> {
  const admin = createAdminApi(connection);
  const hot = await openPartner(admin, { name: 'Hot', amount: hotFunds });
  const many: Owner[] = [];
  while (many.length < crowd) {
    const names = Array.from({ length: Math.min(atOnce, crowd - many.length) }, (_, n) => many.length + n);
    const openings = names.map((n) => ({ name: `Partner ${n}`, amount: otherFunds, webhook: webhook(n) }));
    many.push(...(await Promise.all(openings.map((opening) => openPartner(admin, opening)))));
  }
  return { hot, many, price, funded: hotFunds + many.length * otherFunds };
}
