import type { ExchangingClient } from '../../contracts/grant.ts';
import {
  integrationRequestsPerMinute,
  SigningHeaders,
  timestampSkewSeconds,
} from '../../contracts/storefront.ts';
import { ApiError } from '../platform/errors.ts';
import type { RequestLimit } from '../platform/http/request-limits.ts';
import { randomSecret } from '../platform/ids.ts';
import { nameKind, wrongKind } from '../platform/keys/credential-kinds.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { Integration } from './integration-store.ts';
import { fingerprintOf, isSignedWith, mistakeIn, type Signature } from './request-signature.ts';

/** A storefront client with its partner. Prices are in cents per billable event. */
export interface IntegrationHolder {
  client: ExchangingClient & { status: 'active' | 'disabled' };
  partner: { _id: string; status: 'pending' | 'active' | 'suspended'; prices?: { storefront?: number } };
}

/** The sender of a signed call. A repetition of the call has the same `fingerprint`. */
export interface Caller extends IntegrationHolder {
  integration: Integration;
  fingerprint: string;
}

interface Dependencies {
  /** Reads an integration, never from a cache, so that a new secret or a disabled integration takes effect at once. */
  findIntegration: (id: string) => Promise<Integration | undefined>;
  /** Reads a client and its partner, never from a cache, so that a removed claim is not returned. */
  findClient: (id: string) => Promise<IntegrationHolder | undefined>;
  keyStatus: (keyId: string) => Promise<'active' | 'revoked' | undefined>;
  sealing: Sealing;
  limit: RequestLimit;
  /** Called when the secret with this version has signed a call. */
  used: (integration: Integration, secretVersion: number) => void;
  clock: { now(): number };
}

function signingHeadersOf(headers: unknown): SigningHeaders {
  const parsed = SigningHeaders.safeParse(headers);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const name = String(issue?.path[0]);
  const value = (headers as Record<string, unknown>)[name];
  const kind = nameKind(String(value));
  const fault = value === undefined ? 'is missing' : `${issue?.message}${kind ? `, and is ${kind}` : ''}`;
  throw new ApiError('invalid_signature', {
    description: `Invalid signature or missing signing headers: ${name} ${fault}`,
  });
}

/** Finds out who signed a call, from the raw bytes of its body (interface 5.4). */
export function createCallerAuthentication(dependencies: Dependencies) {
  const { findIntegration, findClient, keyStatus, sealing, limit, used, clock } = dependencies;
  /** Used instead of the secret of an unknown integration, so that the check takes the same time. */
  const decoy = sealing.seal(randomSecret('integrationSecret'));

  /** Returns the version of the old secret if it is still accepted and has signed the call. */
  async function oldVersionThatSigned(
    { oldSecret }: Integration,
    signed: Signature,
    raw: Uint8Array,
  ): Promise<number | undefined> {
    if (!oldSecret || oldSecret.expiresAt.getTime() <= clock.now()) return undefined;
    const secret = await sealing.open(oldSecret.sealedSecret);
    return isSignedWith(secret, signed, raw) ? oldSecret.secretVersion : undefined;
  }

  const isActive = (account: IntegrationHolder | undefined): account is IntegrationHolder =>
    account?.client.status === 'active' && account.partner.status === 'active';

  async function requireActive({ status, clientId }: Integration): Promise<IntegrationHolder> {
    const account = await findClient(clientId);
    if (status === 'active' && isActive(account) && (await keyStatus(account.client.keyId)) === 'active')
      return account;
    throw new ApiError('integration_inactive');
  }

  async function requireAllowance(integrationId: string): Promise<void> {
    const { allowed, retryAfter } = await limit('storefront', integrationId, integrationRequestsPerMinute);
    if (!allowed)
      throw new ApiError('rate_limited', { description: 'Integration rate limit exceeded', retryAfter });
  }

  /** @throws ApiError `invalid_signature`; `integration_inactive`; `rate_limited`, for which only signed calls count */
  return async function authenticate(headers: unknown, raw: Uint8Array): Promise<Caller> {
    const sent = signingHeadersOf(headers);
    const integrationId = sent['x-svc-integration-id'];
    const timestamp = sent['x-svc-timestamp'];
    const integration = await findIntegration(integrationId);
    const secret = await sealing.open(integration?.sealedSecret ?? (await decoy));
    const signed = { integrationId, timestamp, signature: sent['x-svc-signature'] };
    // The present secret is checked first, so that an unknown integration takes the same time as a known one.
    const version = isSignedWith(secret, signed, raw)
      ? integration?.secretVersion
      : integration && (await oldVersionThatSigned(integration, signed, raw));
    if (version === undefined || !integration) {
      const kind = wrongKind('X-SVC-Integration-Id', integrationId, 'integrationId');
      const hint = kind ?? (integration?.mode === 'test' ? mistakeIn(secret, signed, raw) : undefined);
      throw new ApiError('invalid_signature', hint ? { description: `Invalid signature: ${hint}` } : {});
    }
    if (Math.abs(clock.now() / 1000 - Number(timestamp)) > timestampSkewSeconds) {
      throw new ApiError('invalid_signature', {
        description: `Invalid signature: X-SVC-Timestamp is more than ${timestampSkewSeconds} seconds off`,
      });
    }
    used(integration, version);
    const account = await requireActive(integration);
    await requireAllowance(integrationId);
    return { ...account, integration, fingerprint: fingerprintOf(integrationId, raw) };
  };
}
