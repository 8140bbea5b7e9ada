import { BrandRequest } from '../../contracts/admin/brands.ts';
import { ClientView } from '../../contracts/admin/clients.ts';
import { EndpointView, KeyView, OldSecret } from '../../contracts/admin/keys.ts';
import { PartnerView } from '../../contracts/admin/partners.ts';
import { viewAs } from '../platform/admin-api/view.ts';
import type { Branded } from './brands/brand-requests.ts';
import { type Client, sourcesOf } from './clients/client-store.ts';
import { type ApiKey, type OldKeySecret, pauseAt } from './keys/key-store.ts';
import { isLive } from './keys/secrets.ts';
import { type Partner, statusOf } from './partner-store.ts';

/** Returns a member's change of a live brand as operators and members see it. */
const viewRequest = (request: Branded['brandRequest']): BrandRequest | null =>
  request ? viewAs(BrandRequest, request) : null;

export const viewPartner = (partner: Partner): PartnerView =>
  viewAs(PartnerView, {
    ...partner,
    id: partner._id,
    status: statusOf(partner),
    contacts: partner.contacts ?? [],
    brandRequest: viewRequest(partner.brandRequest),
  });

/** Returns old secrets as operators see them, without hashes and without those that have expired. */
const viewOldSecrets = (secrets: readonly OldKeySecret[], now: number): OldSecret[] =>
  secrets.filter((secret) => isLive(secret, now)).map((secret) => viewAs(OldSecret, secret));

/** Returns an API key as operators see it, without hashes. @param now milliseconds since the epoch */
export function viewKey(key: ApiKey, now: number): KeyView {
  return viewAs(KeyView, {
    ...key,
    id: key._id,
    webhookUrl: key.webhook?.url,
    webhookLast4: key.webhook?.last4,
    webhookSecretAt: key.webhook?.secretAt,
    webhookLastUsedAt: key.webhook?.lastUsedAt,
    oldSecrets: viewOldSecrets(key.oldSecrets ?? [], now),
  });
}

/** Returns a webhook endpoint as operators see it, without the sealed secret. @param now milliseconds since the epoch */
export function viewEndpoint(key: ApiKey, now: number): EndpointView {
  const { webhook, webhookSecrets, notices } = key;
  return viewAs(EndpointView, {
    ...webhook,
    keyId: key._id,
    mode: key.mode,
    secretVersion: webhookSecrets,
    rotatedAt: webhook?.secretAt,
    prepared: webhook?.next && {
      last4: webhook.next.last4,
      preparedAt: webhook.next.preparedAt.toISOString(),
    },
    notices: notices ?? false,
    pausedUntil: pauseAt(now, key)?.until,
  });
}

/** Returns a client as operators see it, without secrets that have expired. @param now milliseconds since the epoch */
export function viewClient(client: Client, now: number): ClientView {
  return viewAs(ClientView, {
    ...client,
    id: client._id,
    sources: [...sourcesOf(client)],
    brandRequest: viewRequest(client.brandRequest),
    passkeys: client.passkeys ?? true,
    openid: client.openid ?? false,
    defaultClaims: client.defaultClaims ?? [],
    idTokenAlg: client.idTokenAlg ?? 'RS256',
    secrets: client.secrets
      .filter((secret) => isLive(secret, now))
      .map((secret) => viewAs(ClientView.shape.secrets.element, secret)),
  });
}
