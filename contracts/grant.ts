import type { ChargeTerms } from './charge.ts';
import { type ClaimName, type Claims, isClaimName, resolveClaims } from './claims.ts';
import type { Mode } from './identifiers.ts';
import { openidScope } from './openid.ts';
import type { Rehearsal } from './verification.ts';

/** What the ID token of a grant needs besides its access. */
export interface OpenidGrant {
  /** As the client sent it at the start. */
  nonce?: string | undefined;
  authenticatedAt: Date;
}

/**
 * What an authorization code grants. It is internal and never sent to clients: the feature that issues codes passes it to the
 * features that exchange them.
 */
export interface Grant {
  sessionId: string;
  clientId: string;
  /** The API key that owns the session. */
  keyId: string;
  redirectUri: string;
  /** The requested identifiers, in the order of the request. */
  scope: string[];
  /** Present if an ID token was asked for. */
  openid?: OpenidGrant | undefined;
  codeChallenge: string;
  /** The expiry of the code. */
  expiresAt: Date;
  /** How often the code was sent with a wrong PKCE verifier. */
  wrongVerifiers: number;
  sub: string;
  /** Whether an earlier session had enrolled this user with this client. */
  returning: boolean;
  /** All known claims of the user. The exchange selects those that the client may see. */
  evaluatedClaims: Claims;
  /**
   * `withdrawn`: the user has withdrawn the consent that the code was issued for. `rehearse` is set for sandbox people with whom
   * partners test a refusal. The exchange of their codes then answers with this refusal.
   */
  enrollment: { id: string; status: 'active' | 'blocked' | 'withdrawn'; rehearse?: Rehearsal | undefined };
}

/** The number of wrong verifiers that invalidates a code. */
export const maxWrongVerifiers = 5;

/** A client that exchanges codes. `oauth` clients use the token endpoint, `storefront` clients use signed calls. */
export interface ExchangingClient {
  _id: string;
  partnerId: string;
  keyId: string;
  mode: Mode;
  kind: 'oauth' | 'storefront';
  claims: readonly ClaimName[];
}

/** Returns the known claims of a grant's scope, in the order of the request. They are the `scope` of the token response. */
export const grantedScope = ({ scope }: Pick<Grant, 'scope'>): ClaimName[] => scope.filter(isClaimName);

/** Returns what a charge grants to the client that exchanges a code. Claims that the client may no longer see are ignored. */
export function termsOf(grant: Grant, client: ExchangingClient): Omit<ChargeTerms, 'lifetimeSeconds'> {
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

/** Like `termsOf`, for a start with the scope `openid`. It is granted, but it is no claim. */
export function openidTermsOf(grant: Grant, client: ExchangingClient): ReturnType<typeof termsOf> {
  const isOpenid = (name: string) => name === openidScope;
  const terms = termsOf({ ...grant, scope: grant.scope.filter((name) => !isOpenid(name)) }, client);
  return { ...terms, scope: grant.scope.filter((name) => isOpenid(name) || isClaimName(name)).join(' ') };
}
