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

async function openPartner(admin: AdminApi, name: string, amount: number): Promise<Owner> {
  const { id: partnerId } = await admin.partners.create.mutate({ name });
  await admin.partners.activate.mutate({ partnerId });
  const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
  const client = await admin.clients.create.mutate({
    partnerId,
    keyId,
    name,
    redirectUris: [redirectUri],
    claims: ['age_18_plus', 'identity_verified'],
    tokenRequestsPerMinute: most,
    userinfoRequestsPerMinute: most,
  });
  await admin.wallets.fund.mutate({ partnerId, mode: 'test', amount, reference: 'bench' });
  await admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: most, perHour: most });
  return { partnerId, keyId, clientId: client.id, clientSecret: client.clientSecret };
}

/** One hot partner and a crowd of others, with money and without narrow limits, as support would set them up. */
export async function openPartners(
  connection: { url: string; token: string },
  crowd: number,
): Promise<Partners> {
  const admin = createAdminApi(connection);
  const hot = await openPartner(admin, 'Hot', hotFunds);
  const many: Owner[] = [];
  while (many.length < crowd) {
    const names = Array.from({ length: Math.min(atOnce, crowd - many.length) }, (_, n) => many.length + n);
    many.push(...(await Promise.all(names.map((n) => openPartner(admin, `Partner ${n}`, otherFunds)))));
  }
  return { hot, many, price, funded: hotFunds + many.length * otherFunds };
}
