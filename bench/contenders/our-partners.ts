import { type AdminApi, createAdminApi } from '../../cli/connection/client.ts';
import type { IdTokenAlg } from '../../contracts/openid.ts';
import { type Credentials, redirectUri } from './contender.ts';

/** A partner's client, with the fields that its users' records contain. */
export interface Owner extends Credentials {
  partnerId: string;
  keyId: string;
}

interface Partners {
  hot: Owner;
  many: Owner[];
  /** Clients with the default limits of a new partner. */
  usual: Owner[];
  /** Cents: the funding of all wallets, and the price of an exchange. */
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
  /** The first balance in cents. */
  amount: number;
  /** The webhook URL of its key. */
  webhook?: string | undefined;
  /** The algorithm of ID tokens, if the client speaks OpenID Connect. */
  idToken?: IdTokenAlg | undefined;
  /** Whether the default limits stay. */
  usual?: boolean;
}

async function openPartner(
  admin: AdminApi,
  { name, amount, webhook, idToken, usual = false }: Opening,
): Promise<Owner> {
  const { id: partnerId } = await admin.partners.create.mutate({ name });
  const wallet = { partnerId, mode: 'test' as const };
  const [{ id: keyId }] = await Promise.all([
    admin.keys.create.mutate(wallet),
    admin.partners.activate.mutate({ partnerId }),
    admin.wallets.fund.mutate({ ...wallet, amount, reference: 'bench' }),
    ...(usual ? [] : [admin.limits.set.mutate({ ...wallet, perMinute: most, perHour: most })]),
  ]);
  if (webhook !== undefined) await admin.webhooks.set.mutate({ keyId, url: webhook });
  const client = await admin.clients.create.mutate({
    partnerId,
    keyId,
    name,
    redirectUris: [redirectUri],
    claims: ['age_18_plus', 'identity_verified'],
    // An older build does not know these settings.
    ...(idToken ? { openid: true, idTokenAlg: idToken } : {}),
    ...(usual ? {} : { tokenRequestsPerMinute: most, userinfoRequestsPerMinute: most }),
  });
  return { partnerId, keyId, clientId: client.id, clientSecret: client.clientSecret };
}

interface PartnerCounts {
  /** The number of partners besides the hot one, and of those with default limits. */
  many: number;
  usual?: number | undefined;
  /** The algorithm of the hot partner's ID tokens; undefined for none. */
  idToken?: IdTokenAlg | undefined;
  /** The webhook URL of the nth partner; undefined for none. */
  webhook?: ((n: number) => string | undefined) | undefined;
}

/** One hot partner and many others with money and without narrow limits, and partners with default limits. */
export async function openPartners(
  connection: { url: string; token: string },
  { many, usual = 0, idToken, webhook = () => undefined }: PartnerCounts,
): Promise<Partners> {
  const admin = createAdminApi(connection);

  async function openAll(openings: readonly Opening[]): Promise<Owner[]> {
    const opened: Owner[] = [];
    while (opened.length < openings.length) {
      const next = openings.slice(opened.length, opened.length + atOnce);
      opened.push(...(await Promise.all(next.map((opening) => openPartner(admin, opening)))));
    }
    return opened;
  }

  const named = (count: number, of: (n: number) => Opening) => Array.from({ length: count }, (_, n) => of(n));
  return {
    hot: await openPartner(admin, { name: 'Hot', amount: hotFunds, idToken }),
    many: await openAll(
      named(many, (n) => ({ name: `Partner ${n}`, amount: otherFunds, webhook: webhook(n) })),
    ),
    usual: await openAll(
      named(usual, (n) => ({ name: `Usual partner ${n}`, amount: otherFunds, usual: true })),
    ),
    price,
    funded: hotFunds + (many + usual) * otherFunds,
  };
}
