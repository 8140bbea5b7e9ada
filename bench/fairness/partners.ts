import { createAdminApi } from '../../cli/connection/client.ts';
import type { Owner } from '../contenders/our-partners.ts';

/** What a partner can be at: the spend cap of its wallet, or the request limit of its client. */
export type Cap = 'spend' | 'requests';

/** A partner that asks for more than it may. */
export interface Noisy {
  cap: Cap;
  owner: Owner;
  /** What a 429 says once it is at its cap, and not at the other. */
  refusal: string;
}

export interface Partners {
  quiet: Owner;
  noisy: Readonly<Record<Cap, Noisy>>;
}

/** A minute, of both: what a partner has whose spend cap nobody ever raised. */
export const capPerMinute = 60;
/** High enough never to be met. */
const perHour = 1_000_000;

/** How many partners `setCaps` takes. */
export const partnerCount = 3;

/** Of three partners with money and without narrow limits, narrows the spend cap of one and the request limit of another. */
export async function setCaps(
  connection: { url: string; token: string },
  owners: readonly Owner[],
): Promise<Partners> {
  const [quiet, spender, asker] = owners;
  if (!quiet || !spender || !asker) throw new Error(`fairness takes ${partnerCount} partners`);
  const admin = createAdminApi(connection);
  const { partnerId } = spender;
  await admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: capPerMinute, perHour });
  await admin.clients.update.mutate({ clientId: asker.clientId, tokenRequestsPerMinute: capPerMinute });
  return {
    quiet,
    noisy: {
      spend: { cap: 'spend', owner: spender, refusal: 'Spend limit exceeded: minute bucket' },
      requests: { cap: 'requests', owner: asker, refusal: 'Token endpoint rate limit exceeded' },
    },
  };
}
