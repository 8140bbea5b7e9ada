import type { AdminApi } from '../connection/client.ts';
import type { Credentials } from './credentials.ts';

/** The records to create for a partner, in test mode. */
export type Plan = Parameters<AdminApi['partners']['check']['query']>[0];

export type Onboarded = Awaited<ReturnType<typeof onboardPartner>>;

/** Creates and activates a partner with a test key, a client, a funded test wallet and, if wanted, a webhook endpoint. */
export async function onboardPartner(
  api: AdminApi,
  { name, redirectUris, claims, webhookUrl, amount }: Plan,
  progress: (step: string) => void = () => undefined,
) {
  const { id: partnerId } = await api.partners.create.mutate({ name });
  progress(`partner ${partnerId}`);
  const { id: keyId, apiKey } = await api.keys.create.mutate({ partnerId, mode: 'test' });
  progress(`API key ${keyId}`);
  const client = await api.clients.create.mutate({ partnerId, keyId, name, redirectUris, claims });
  progress(`client ${client.id}`);
  const endpoint =
    webhookUrl === undefined ? undefined : await api.webhooks.set.mutate({ keyId, url: webhookUrl });
  if (endpoint) progress(`webhook ${endpoint.url}`);
  const wallet = { partnerId, mode: 'test' as const };
  const { balanceAfter } = await api.wallets.fund.mutate({ ...wallet, amount, reference: 'onboarding' });
  const { status } = await api.partners.activate.mutate({ partnerId });
  progress('test wallet funded, partner active');
  const credentials: Credentials = {
    SVC_BASE_URL: (await api.status.query()).baseUrl,
    SVC_CLIENT_ID: client.id,
    SVC_CLIENT_SECRET: client.clientSecret,
    SVC_API_KEY: apiKey,
    SVC_REDIRECT_URI: redirectUris[0] ?? '',
    ...(endpoint && { SVC_WEBHOOK_SECRET: endpoint.signingSecret }),
  };
  return {
    partnerId,
    status,
    keyId,
    clientId: client.id,
    balance: balanceAfter,
    credentials,
    scope: client.claims.join(' '),
  };
}
