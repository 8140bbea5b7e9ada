import type { ApiKey } from '../partners/key-store.ts';
import type { Partner } from '../partners/partner-store.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { Recipient } from '../webhooks/delivery/publish.ts';
import type { Endpoint } from '../webhooks/delivery/send-attempt.ts';
import type { SecretUses } from './secret-uses.ts';

interface Directory {
  apiKey(keyId: string): Promise<ApiKey | undefined>;
  client(clientId: string, options: { fresh: boolean }): Promise<{ client: { keyId: string } } | undefined>;
  partner(partnerId: string, options: { fresh: boolean }): Promise<Partner | undefined>;
}

/**
 * Returns the API key whose webhook URL receives an event. It is the key that owns the session. If that key is revoked, it is the
 * present key of the client (docs/choices.md). `skip` is set if the key has no URL, so that no delivery is made. For an inactive
 * key, a delivery is made, and its attempt is skipped with that reason.
 */
export async function eventRecipient(
  { keyId, clientId }: { keyId: string; clientId?: string },
  { apiKey, client }: Pick<Directory, 'apiKey' | 'client'>,
): Promise<Recipient> {
  const owner = await apiKey(keyId);
  const isRevoked = owner?.status === 'revoked';
  const found = isRevoked && clientId ? await client(clientId, { fresh: true }) : undefined;
  const key = found ? await apiKey(found.client.keyId) : owner;
  const recipient = { keyId: key?._id ?? keyId };
  const hasNoUrl = key?.status === 'active' && !key.webhook;
  return hasNoUrl ? { ...recipient, skip: 'no_url' } : recipient;
}

/** Returns the webhook endpoint of a key, or why its events are not sent. It reads no cache, so changes take effect immediately. */
export async function webhookEndpoint(
  keyId: string,
  { apiKey, partner }: Pick<Directory, 'apiKey' | 'partner'>,
  { sealing, used }: { sealing: Pick<Sealing, 'open'>; used: Pick<SecretUses, 'endpoint'> },
): Promise<Endpoint> {
  const key = await apiKey(keyId);
  if (key?.status !== 'active') return { state: 'off', reason: 'key_revoked' };
  if ((await partner(key.partnerId, { fresh: true }))?.status === 'suspended') {
    return { state: 'off', reason: 'partner_suspended' };
  }
  if (!key.webhook) return { state: 'off', reason: 'no_url' };
  const { url, sealedSecret, secretVersion } = key.webhook;
  const secret = await sealing.open(sealedSecret);
  used.endpoint(key);
  const paused = key.pause ? { pausedUntil: key.pause.until } : {};
  return { state: 'on', url, secret, secretVersion, ...paused, mode: key.mode };
}
