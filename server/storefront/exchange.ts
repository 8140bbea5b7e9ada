import { type ClaimsMap, hasPositiveClaim } from '../../contracts/claims.ts';
import { type Grant, type GrantTerms, termsOf } from '../../contracts/grant.ts';
import {
  type StorefrontRequest,
  type StorefrontResponse,
  type VerificationLevel,
  verificationLevelOf,
} from '../../contracts/storefront.ts';
import { codeLifetime } from '../../contracts/verification.ts';
import { ApiError } from '../platform/errors.ts';
import type { Waiting } from '../platform/http/in-time.ts';
import { hmac, sha256 } from '../platform/ids.ts';
import type { Account, Caller } from './caller.ts';

/** The access that was bought with a code. */
interface BoughtAccess {
  claims: ClaimsMap;
  enrollmentId: string;
  fingerprint?: string;
  verificationLevel?: VerificationLevel;
}

/** What happened to a code before this request. */
type History<Access> = { state: 'open' } | { state: 'used'; access: Access } | { state: 'exhausted' };

/** What the wallet is charged for. `fingerprint` tells the same request sent again from any other. */
type Terms = GrantTerms & { lifetime: number; fingerprint: string; verificationLevel: VerificationLevel };

interface Dependencies<Access extends BoughtAccess> {
  loadGrant: (codeHash: string) => Promise<Grant | undefined>;
  /** Charges the partner's wallet once for `cause` and commits the access: the exchange core in billing. */
  buy: (
    purchase: Account & {
      cause: string;
      waiting: Waiting;
      read: () => Promise<Grant | undefined>;
      decide: (grant: Grant | undefined, history: History<Access>) => Promise<Terms | { replay: Access }>;
    },
  ) => Promise<Access>;
  /** Keeps on the enrollment whom the shop knows this user as. */
  rememberCustomer: (enrollmentId: string, customerHash: string) => Promise<void>;
  idKey: Uint8Array;
  clock: { now(): number };
}

/** A code that this integration may exchange now. Interface 7.5 has one 404 for all others. */
function requireCode(grant: Grant | undefined, client: Account['client'], now: number): Grant {
  const isOurs = grant?.clientId === client._id && client.kind === 'storefront';
  if (!isOurs || grant.expiresAt.getTime() <= now) throw new ApiError('code_not_found');
  return grant;
}

/** Nothing is billed for a user of whom nothing positive is known, or who must not pass. */
function requireSuccess(grant: Grant, claims: ClaimsMap): void {
  if (grant.enrollment.status !== 'active') throw new ApiError('enrollment_blocked');
  if (!hasPositiveClaim(claims)) throw new ApiError('no_positive_claim');
}

/** `POST /api/integrations/storefront/verify/exchange` (interface 4.6) for a caller whose signature fits. */
export function createStorefrontExchange<Access extends BoughtAccess>(dependencies: Dependencies<Access>) {
  const { loadGrant, buy, rememberCustomer, idKey, clock } = dependencies;

  return async (
    request: StorefrontRequest,
    caller: Caller,
    waiting: Waiting,
  ): Promise<StorefrontResponse> => {
    const { integration, client, partner, fingerprint } = caller;
    const shop = request.shop_domain.toLowerCase();
    if (!integration.shops.includes(shop)) throw new ApiError('shop_not_found');
    const codeHash = sha256(request.code);

    const access = await buy({
      client,
      partner,
      cause: codeHash,
      waiting,
      read: () => loadGrant(codeHash),
      async decide(found, history) {
        const grant = requireCode(found, client, clock.now());
        if (history.state === 'exhausted') throw new ApiError('code_not_found');
        if (history.state === 'used') {
          if (history.access.fingerprint !== fingerprint) throw new ApiError('code_not_found');
          return { replay: history.access };
        }
        if (grant.redirectUri !== request.redirect_uri) throw new ApiError('invalid_redirect_uri');
        const terms = termsOf(grant, client);
        requireSuccess(grant, terms.claims);
        const verificationLevel = verificationLevelOf(grant.evaluatedClaims.assurance_level);
        return { ...terms, lifetime: codeLifetime, fingerprint, verificationLevel };
      },
    });
    const { enrollmentId, claims, verificationLevel = 'basic' } = access;
    const customer = JSON.stringify(['customer', client._id, shop, request.customer_id]);
    await rememberCustomer(enrollmentId, hmac(idKey, customer));
    return {
      verified: true,
      claims,
      verification_level: verificationLevel,
      enrollment_id: enrollmentId,
    };
  };
}
