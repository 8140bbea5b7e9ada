import type { Access, Charging, PastCharge } from '../../../../../contracts/charge.ts';
import { type ClaimsMap, hasPositiveClaim } from '../../../../../contracts/claims.ts';
import { errorTable } from '../../../../../contracts/errors.ts';
import { type Grant, termsOf } from '../../../../../contracts/grant.ts';
import {
  type StorefrontRequest,
  type StorefrontResponse,
  verificationLevelOf,
} from '../../../../../contracts/storefront.ts';
import { codeLifetimeSeconds } from '../../../../../contracts/verification.ts';
import { customerHash } from '../../../../partners/integrations/customer-hash.ts';
import { ApiError } from '../../../../platform/errors.ts';
import type { RequestContext } from '../../../../platform/http/deadline.ts';
import { sha256 } from '../../../../platform/ids.ts';
import { describeMistake } from '../../../../platform/keys/credential-kinds.ts';
import { showSent } from '../../../../platform/keys/sent-text.ts';
import type { Caller, IntegrationHolder } from '../caller.ts';

interface Dependencies {
  loadGrant: (code: string) => Promise<Grant | undefined>;
  charges: Charging;
  /** Stores the hash of the shop's customer id on the user's enrollment. */
  rememberCustomer: (enrollmentId: string, customerHash: string) => Promise<void>;
  idKey: Uint8Array;
  clock: { now(): number };
}

/**
 * Returns the grant of a code of this client.
 * @throws ApiError `code_not_found` for all other codes (interface 7.5), and for other credentials, whose kind the text then names
 */
function requireOwnCode(grant: Grant | undefined, code: string, client: IntegrationHolder['client']): Grant {
  if (grant?.clientId === client._id && client.kind === 'storefront') return grant;
  throw new ApiError('code_not_found', { description: describeMistake('code', code, 'code') });
}

const mostNamedShops = 10;

/** Returns the error for an unknown shop. For a test integration, it names the sent and the registered values. */
function shopNotFound(sent: string, { mode, shops }: Caller['integration']): ApiError {
  if (mode !== 'test') return new ApiError('shop_not_found');
  const isAddress = /[:/]/.test(sent);
  const hint = isAddress ? '; a shop_domain is a host name, without https:// and without a path' : '';
  const registered = `this integration has ${shops.slice(0, mostNamedShops).join(', ')}`;
  return new ApiError('shop_not_found', {
    description: `${errorTable.shop_not_found.text}: ${showSent(sent)}${hint}; ${registered}`,
  });
}

/** Throws if the enrollment is not active or no claim is positive. It runs before the charge, so that nothing is billed. */
function requirePositiveResult(grant: Grant, claims: ClaimsMap): void {
  if (grant.enrollment.status === 'withdrawn')
    throw new ApiError('code_not_found', {
      description: 'Authorization code not found: the user has withdrawn the consent',
    });
  if (grant.enrollment.status !== 'active') throw new ApiError('enrollment_blocked');
  if (!hasPositiveClaim(claims)) throw new ApiError('no_positive_claim');
}

/** Makes the handler of `POST /api/integrations/storefront/verify/exchange` (interface 4.6). The signature is already verified. */
export function createStorefrontExchange(dependencies: Dependencies) {
  const { loadGrant, charges, rememberCustomer, idKey, clock } = dependencies;

  /**
   * Returns the access of a used code if the same request is repeated before the code expires. Nothing is billed again.
   * @throws ApiError `code_not_found` for another request, a revoked access or an expired code
   */
  function accessOfRepeatedRequest({ id, at, access, revoked }: PastCharge, fingerprint: string): Access {
    const isRepeatable =
      access?.fingerprint === fingerprint && !revoked && access.expiresAt.getTime() > clock.now();
    if (isRepeatable) return access;
    throw new ApiError('code_not_found', {
      description: `Authorization code not found: it was used at ${at.toISOString()}; charge ${id}`,
    });
  }

  /** Charges for the code, unless the request repeats an earlier one. @returns the access that was bought */
  async function buyAccess(
    request: StorefrontRequest,
    caller: Caller,
    context: RequestContext,
  ): Promise<Access> {
    const { client, partner, fingerprint } = caller;
    const cause = sha256(request.code);
    const [found, earlierCharge] = await Promise.all([
      loadGrant(request.code),
      charges.past({ ...client, cause }),
    ]);
    const grant = requireOwnCode(found, request.code, client);
    if (earlierCharge) return accessOfRepeatedRequest(earlierCharge, fingerprint);
    if (grant.expiresAt.getTime() <= clock.now()) throw new ApiError('code_not_found');
    if (grant.redirectUri !== request.redirect_uri) throw new ApiError('invalid_redirect_uri');
    const granted = termsOf(grant, client);
    requirePositiveResult(grant, granted.claims);
    const verificationLevel = verificationLevelOf(grant.evaluatedClaims.assurance_level);
    const terms = { ...granted, lifetimeSeconds: codeLifetimeSeconds, fingerprint, verificationLevel };
    const order = { kind: 'storefront', cause, terms, prices: partner.prices, ...context } as const;
    const charged = await charges.charge(order, (access) => access);
    // The outcome is `used` if another request has used the code since `earlierCharge` was read.
    return charged.outcome === 'used' ? accessOfRepeatedRequest(charged.past, fingerprint) : charged.answer;
  }

  return async (
    request: StorefrontRequest,
    caller: Caller,
    context: RequestContext,
  ): Promise<StorefrontResponse> => {
    const { integration, client } = caller;
    const shop = request.shop_domain.toLowerCase();
    if (!integration.shops.includes(shop)) throw shopNotFound(request.shop_domain, integration);
    // The type allows no level, because only storefront charges have one. Each of them has one.
    const { enrollmentId, claims, verificationLevel = 'basic' } = await buyAccess(request, caller, context);
    const customer = { clientId: client._id, shop, customerId: request.customer_id };
    await rememberCustomer(enrollmentId, customerHash(idKey, customer));
    return { verified: true, claims, verification_level: verificationLevel, enrollment_id: enrollmentId };
  };
}
