import type { ExchangingClient } from '../../../../contracts/grant.ts';
import {
  integrationRequestsPerMinute,
  SigningHeaders,
  timestampSkewSeconds,
} from '../../../../contracts/storefront.ts';
import type { Client } from '../../../partners/clients/client-store.ts';
import type { Integration } from '../../../partners/integrations/integration-store.ts';
import type { Partner } from '../../../partners/partner-store.ts';
import { ApiError } from '../../../platform/errors.ts';
import type { RequestLimit } from '../../../platform/http/limits/request-limits.ts';
import { randomSecret } from '../../../platform/ids.ts';
import { describeMistake, nameKind } from '../../../platform/keys/credential-kinds.ts';
import type { Sealing } from '../../../platform/keys/sealing.ts';
import { explainMismatch, fingerprintOf, isSignedWith, type Signature } from './request-signature.ts';

export interface IntegrationHolder {
  client: Pick<Client, keyof ExchangingClient | 'status'>;
  partner: Pick<Partner, '_id' | 'status' | 'prices'>;
}

/** The sender of a signed request. A repeated request has the same `fingerprint`. */
export interface Caller extends IntegrationHolder {
  integration: Integration;
  fingerprint: string;
}

interface Dependencies {
  /** Reads an integration, never from a cache, so that a new secret or a disabled integration takes effect immediately. */
  findIntegration: (id: string) => Promise<Integration | undefined>;
  /** Reads a client and its partner, never from a cache, so that a removed claim is not returned. */
  findClient: (id: string) => Promise<IntegrationHolder | undefined>;
  keyStatus: (keyId: string) => Promise<'active' | 'revoked' | undefined>;
  sealing: Sealing;
  limit: RequestLimit;
  /** Called when the secret with this version has signed a request. */
  onSecretUsed: (integration: Integration, secretVersion: number) => void;
  clock: { now(): number };
}

/** @throws ApiError `invalid_signature`, whose text names the first header that is missing, given twice or malformed */
function signingHeadersOf(headers: Readonly<Record<string, unknown>>): SigningHeaders {
  // Node.js joins the values of a repeated header. None of the three values has a comma.
  const repeated = Object.keys(SigningHeaders.shape).find((name) => String(headers[name]).includes(','));
  if (repeated)
    throw new ApiError('invalid_signature', {
      description: `Invalid signature or missing signing headers: ${repeated} must be given once`,
    });
  const parsed = SigningHeaders.safeParse(headers);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  const value = headers[name];
  // The caller may have sent another credential, such as an API key, in this header.
  const kind = nameKind(String(value));
  const malformed = `${issue?.message}${kind ? `, and is ${kind}` : ''}`;
  throw new ApiError('invalid_signature', {
    description: `Invalid signature or missing signing headers: ${name} ${value === undefined ? 'is missing' : malformed}`,
  });
}

const signatureError = (hint: string | undefined) =>
  new ApiError('invalid_signature', { description: hint && `Invalid signature: ${hint}` });

/** Makes the function that finds the integration that signed a request. The signature covers the raw body (interface 5.4). */
export function createCallerAuthentication(dependencies: Dependencies) {
  const { findIntegration, findClient, keyStatus, sealing, limit, onSecretUsed, clock } = dependencies;
  /** Used if the integration is unknown, so that the check takes the same time as for a known integration. */
  const decoySecret = sealing.seal(randomSecret('integrationSecret'));

  /** Returns the version of the old secret if the secret is still accepted and has signed the request. */
  async function findOldVersionThatSigned(
    { oldSecret }: Integration,
    signature: Signature,
    raw: Uint8Array,
  ): Promise<number | undefined> {
    if (!oldSecret || oldSecret.expiresAt.getTime() <= clock.now()) return undefined;
    const secret = await sealing.open(oldSecret.sealedSecret);
    return isSignedWith(secret, signature, raw) ? oldSecret.secretVersion : undefined;
  }

  const isActive = (holder: IntegrationHolder | undefined): holder is IntegrationHolder =>
    holder?.client.status === 'active' && holder.partner.status === 'active';

  async function requireActive({ status, clientId }: Integration): Promise<IntegrationHolder> {
    const holder = await findClient(clientId);
    if (status === 'active' && isActive(holder) && (await keyStatus(holder.client.keyId)) === 'active')
      return holder;
    throw new ApiError('integration_inactive');
  }

  async function requireAllowance(integrationId: string): Promise<void> {
    const refusal = 'Integration rate limit exceeded';
    await limit('storefront', integrationId, { perMinute: integrationRequestsPerMinute, refusal });
  }

  /** @throws ApiError `invalid_signature`; `integration_inactive`; `rate_limited`, for which only rightly signed requests count */
  return async function authenticate(
    headers: Readonly<Record<string, unknown>>,
    raw: Uint8Array,
  ): Promise<Caller> {
    const signingHeaders = signingHeadersOf(headers);
    const integrationId = signingHeaders['x-svc-integration-id'];
    const timestamp = signingHeaders['x-svc-timestamp'];
    const signature = { integrationId, timestamp, value: signingHeaders['x-svc-signature'] };
    const integration = await findIntegration(integrationId);
    const secret = await sealing.open(integration?.sealedSecret ?? (await decoySecret));
    // A secret is checked even if the integration is unknown, so that the time does not reveal which integrations exist.
    const hasSigned = isSignedWith(secret, signature, raw);
    if (!integration)
      throw signatureError(describeMistake('X-SVC-Integration-Id', integrationId, 'integrationId'));
    const version = hasSigned
      ? integration.secretVersion
      : await findOldVersionThatSigned(integration, signature, raw);
    if (version === undefined)
      throw signatureError(integration.mode === 'test' ? explainMismatch(secret, signature, raw) : undefined);
    if (Math.abs(clock.now() / 1000 - Number(timestamp)) > timestampSkewSeconds)
      throw signatureError(`X-SVC-Timestamp is more than ${timestampSkewSeconds} seconds off`);
    onSecretUsed(integration, version);
    const holder = await requireActive(integration);
    await requireAllowance(integrationId);
    return { ...holder, integration, fingerprint: fingerprintOf(integrationId, raw) };
  };
}
