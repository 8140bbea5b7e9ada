import type { ClientView } from '../../contracts/admin/clients.ts';
import type { EndpointView, KeyView, OldSecret } from '../../contracts/admin/keys.ts';
import type { PartnerView } from '../../contracts/admin/partners.ts';
import { type Client, sourcesOf } from './client-store.ts';
import { type ApiKey, type OldKeySecret, pauseAt } from './key-store.ts';
import type { Partner } from './partner-store.ts';
import { isLive } from './secrets.ts';

const time = (date: Date | undefined): string | null => date?.toISOString() ?? null;

/** Returns a partner as operators see it. */
export function viewPartner({ _id, name, status, logo, createdAt }: Partner): PartnerView {
  return { id: _id, name, status, logo: logo ?? null, createdAt: createdAt.toISOString() };
}

/** Returns old secrets as operators see them, without hashes and without those that have expired. */
function viewOldSecrets(secrets: readonly OldKeySecret[], now: number): OldSecret[] {
  return secrets
    .filter((secret) => isLive(secret, now))
    .map(({ last4, expiresAt, lastUsedAt }) => ({
      last4,
      expiresAt: expiresAt.toISOString(),
      lastUsedAt: time(lastUsedAt),
    }));
}

/** Returns an API key as operators see it, without hashes. @param now milliseconds since the epoch */
export function viewKey(key: ApiKey, now: number): KeyView {
  return {
    id: key._id,
    partnerId: key.partnerId,
    mode: key.mode,
    status: key.status,
    last4: key.last4,
    webhookUrl: key.webhook?.url ?? null,
    createdAt: key.createdAt.toISOString(),
    rotatedAt: time(key.rotatedAt),
    lastUsedAt: time(key.lastUsedAt),
    oldSecrets: viewOldSecrets(key.oldSecrets ?? [], now),
    revokedAt: time(key.revokedAt),
  };
}

/** Returns a webhook endpoint as operators see it, without the sealed secret. @param now milliseconds since the epoch */
export function viewEndpoint(key: ApiKey, now: number): EndpointView {
  const { webhook, webhookSecrets, notices } = key;
  return {
    keyId: key._id,
    mode: key.mode,
    url: webhook?.url ?? null,
    secretVersion: webhookSecrets,
    last4: webhook?.last4 ?? null,
    rotatedAt: time(webhook?.secretAt),
    lastUsedAt: time(webhook?.lastUsedAt),
    prepared: webhook?.next
      ? { last4: webhook.next.last4, preparedAt: webhook.next.preparedAt.toISOString() }
      : null,
    setAt: time(webhook?.setAt),
    notices: notices ?? false,
    pausedUntil: time(pauseAt(now, key)?.until),
  };
}

/** Returns a client as operators see it, without secrets that have expired. @param now milliseconds since the epoch */
export function viewClient(client: Client, now: number): ClientView {
  return {
    id: client._id,
    partnerId: client.partnerId,
    keyId: client.keyId,
    mode: client.mode,
    kind: client.kind,
    name: client.name,
    status: client.status,
    redirectUris: client.redirectUris,
    claims: client.claims,
    source: client.source ?? null,
    sources: [...sourcesOf(client)],
    brandName: client.brandName ?? null,
    brandColor: client.brandColor ?? null,
    purpose: client.purpose ?? null,
    privacyUrl: client.privacyUrl ?? null,
    passkeys: client.passkeys ?? true,
    maxVerificationAgeSeconds: client.maxVerificationAgeSeconds ?? null,
    tokenRequestsPerMinute: client.tokenRequestsPerMinute ?? null,
    userinfoRequestsPerMinute: client.userinfoRequestsPerMinute ?? null,
    secrets: client.secrets
      .filter((secret) => isLive(secret, now))
      .map(({ expiresAt, createdAt, lastUsedAt, last4 }) => ({
        last4: last4 ?? null,
        createdAt: time(createdAt),
        lastUsedAt: time(lastUsedAt),
        expiresAt: time(expiresAt),
      })),
    createdAt: client.createdAt.toISOString(),
  };
}
