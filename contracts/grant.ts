import type { Terms } from './charge.ts';
import { type ClaimName, type Claims, isClaimName, resolveClaims } from './claims.ts';
import type { Mode } from './identifiers.ts';
import type { Rehearsal } from './verification.ts';

/**
 * What an authorization code stands for, as the verification flow left it. Never on the wire: it is what the
 * feature that issues codes and those that exchange them agree on.
 */
export interface Grant {
  sessionId: string;
  clientId: string;
  /** The API key that owns the session. */
  keyId: string;
  redirectUri: string;
  /** As asked at the start, in order. */
  scope: string[];
  codeChallenge: string;
  expiresAt: Date;
  wrongVerifiers: number;
  sub: string;
  /** Whether an earlier session had enrolled this user with this client. */
  returning: boolean;
  /** Everything that is known of the user; what a client may see of it is for the exchange to choose. */
  evaluatedClaims: Claims;
  /** `withdrawn`: the user has withdrawn the consent that the code was issued for. */
  enrollment: { id: string; status: 'active' | 'blocked' | 'withdrawn'; rehearse?: Rehearsal | undefined };
}

/** So many wrong verifiers invalidate a code. */
export const maxWrongVerifiers = 5;

/** A client that exchanges codes: `oauth` ones at the token endpoint, `storefront` ones by signed calls. */
export interface ExchangingClient {
  _id: string;
  partnerId: string;
  keyId: string;
  mode: Mode;
  kind: 'oauth' | 'storefront';
  claims: readonly ClaimName[];
}

/** The known claims of a grant's scope, in the order asked: `scope` of the token response. */
export const grantedScope = ({ scope }: Pick<Grant, 'scope'>): ClaimName[] => scope.filter(isClaimName);

/** What a code grants the client that exchanges it: the claims as they are now, with their partition. */
export function termsOf(grant: Grant, client: ExchangingClient): Omit<Terms, 'lifetimeSeconds'> {
  const { sessionId, sub, returning, enrollment } = grant;
  return {
    partnerId: client.partnerId,
    mode: client.mode,
    clientId: client._id,
    keyId: grant.keyId,
    sessionId,
    enrollmentId: enrollment.id,
    sub,
    returning,
    scope: grantedScope(grant).join(' '),
    ...resolveClaims(grant.scope, client.claims, grant.evaluatedClaims),
    rehearse: enrollment.rehearse,
  };
}
