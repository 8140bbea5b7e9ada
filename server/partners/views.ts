import type { ClientView } from '../../contracts/admin/clients.ts';
import type { EndpointView, KeyView } from '../../contracts/admin/keys.ts';
import type { PartnerView } from '../../contracts/admin/partners.ts';
import type { Clock } from '../platform/clock.ts';
import type { Client } from './client-store.ts';
import type { ApiKey } from './key-store.ts';
import type { Partner } from './partner-store.ts';

const time = (date: Date | undefined): string | null => date?.toISOString() ?? null;

/** What operators see of each record: no hashes, no sealed secrets. */
export function viewPartner({ _id, name, status, logo, createdAt }: Partner): PartnerView {
  return { id: _id, name, status, logo: logo ?? null, createdAt: createdAt.toISOString() };
}

export function viewKey(key: ApiKey): KeyView {
  const { _id, partnerId, mode, status, last4, webhook, createdAt, rotatedAt, revokedAt } = key;
  return {
    id: _id,
    partnerId,
    mode,
    status,
    last4,
    webhookUrl: webhook?.url ?? null,
    createdAt: createdAt.toISOString(),
    rotatedAt: time(rotatedAt),
    revokedAt: time(revokedAt),
  };
}

/** @param now milliseconds since the epoch */
export function viewEndpoint(
  { _id, mode, webhook, webhookSecrets, pause }: ApiKey,
  now: number,
): EndpointView {
  return {
    keyId: _id,
    mode,
    url: webhook?.url ?? null,
    secretVersion: webhookSecrets,
    last4: webhook?.last4 ?? null,
    rotatedAt: time(webhook?.secretAt),
    setAt: time(webhook?.setAt),
    pausedUntil: pause && pause.until.getTime() > now ? pause.until.toISOString() : null,
  };
}

/** Secrets that have expired are left out. */
export function viewClient(clock: Pick<Clock, 'now'>): (client: Client) => ClientView {
  return (client) => ({
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
    brandName: client.brandName ?? null,
    brandColor: client.brandColor ?? null,
    purpose: client.purpose ?? null,
    privacyUrl: client.privacyUrl ?? null,
    tokenRequestsPerMinute: client.tokenRequestsPerMinute ?? null,
    userinfoRequestsPerMinute: client.userinfoRequestsPerMinute ?? null,
    secrets: client.secrets
      .filter(({ expiresAt }) => !expiresAt || expiresAt.getTime() > clock.now())
      .map(({ expiresAt, createdAt, last4 }) => ({
        last4: last4 ?? null,
        createdAt: time(createdAt),
        expiresAt: time(expiresAt),
      })),
    createdAt: client.createdAt.toISOString(),
  });
}
