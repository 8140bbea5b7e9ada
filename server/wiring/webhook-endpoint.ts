import type { ApiKey } from '../partners/key-store.ts';
import type { Partner } from '../partners/partner-store.ts';
import type { Sealing } from '../platform/sealing.ts';
import type { Endpoint } from '../webhooks/delivery/send-attempt.ts';

interface KeysAndPartners {
  apiKey(keyId: string): Promise<ApiKey | undefined>;
  partner(partnerId: string, options: { fresh: boolean }): Promise<Partner | undefined>;
}

/** Where a key's events go at this moment, or why nowhere: nothing here comes from a cache. */
export async function webhookEndpoint(
  keyId: string,
  { apiKey, partner }: KeysAndPartners,
  sealing: Pick<Sealing, 'open'>,
): Promise<Endpoint> {
  const key = await apiKey(keyId);
  if (key?.status !== 'active') return { state: 'off', reason: 'key_revoked' };
  if ((await partner(key.partnerId, { fresh: true }))?.status === 'suspended') {
    return { state: 'off', reason: 'partner_suspended' };
  }
  if (!key.webhook) return { state: 'off', reason: 'no_url' };
  const { url, sealedSecret, secretVersion } = key.webhook;
  return { state: 'on', url, secret: await sealing.open(sealedSecret), secretVersion, mode: key.mode };
}
