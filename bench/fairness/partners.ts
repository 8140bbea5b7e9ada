import { createAdminApi } from '../../cli/connection/client.ts';
import type { Owner } from '../contenders/our-partners.ts';

/** The cap that a partner can reach: the spend cap of its wallet, or the request limit of its client. */
export type Cap = 'spend' | 'requests';

/** A partner that sends more requests than it may. */
export interface Noisy {
  cap: Cap;
  owner: Owner;
  /** The text of a 429 at this cap, which differs from the other cap's. */
  refusal: string;
}

export interface Partners {
  quiet: Owner;
  noisy: Readonly<Record<Cap, Noisy>>;
}

/** A limit per minute for both, equal to the default spend cap. */
export const capPerMinute = 60;
/** A limit that is never reached. */
const perHour = 1_000_000;

/** The number of partners that `setCaps` takes. */
export const partnerCount = 3;

/** Gives three partners money and wide limits, then narrows the spend cap of one and the request limit of another. */
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
