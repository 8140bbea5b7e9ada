import type { Access, Charging, PastCharge } from '../../../contracts/charge.ts';
import { errorTable } from '../../../contracts/errors.ts';
import {
  type Grant,
  grantedScope,
  maxWrongVerifiers,
  type OpenidGrant,
  openidTermsOf,
  termsOf,
} from '../../../contracts/grant.ts';
import {
  accessTokenLifetimeSeconds,
  type OpenidTokenResponse,
  type TokenRequest,
  type TokenResponse,
} from '../../../contracts/oauth.ts';
import { ApiError } from '../../platform/errors.ts';
import type { RequestContext } from '../../platform/http/deadline.ts';
import { sameText, sha256 } from '../../platform/ids.ts';
import { describeMistake } from '../../platform/keys/credential-kinds.ts';
import { showSent } from '../../platform/keys/sent-text.ts';
import type { AccessTokens } from './access-token.ts';
import type { ClientAuthentication, Credentials, OAuthClient } from './client-authentication.ts';
import type { SignIdToken } from './id-token.ts';

interface Dependencies {
  clients: Pick<ClientAuthentication, 'authenticate' | 'admit' | 'withClaims'>;
  charges: Charging;
  grants: {
    load(code: string): Promise<Grant | undefined>;
    /** Counts a wrong verifier. Resolves to the number of wrong verifiers, this one included. */
    countWrongVerifier(sessionId: string): Promise<number>;
  };
  revoke: (accessId: string) => Promise<void>;
  tokens: Pick<AccessTokens, 'sign'>;
  signIdToken: SignIdToken;
  clock: { now(): number };
}

/** If a code is used again later than this after its first use, its token is revoked (RFC 6749 4.1.2). In milliseconds. */
export const concurrentUseWindowMs = 10_000;

const invalidGrant = (description: string) => new ApiError('invalid_grant', { description });

/** Returns the grant of a code. @throws ApiError `invalid_grant` if the code is unknown or of another client (interface 7.4) */
function requireOwnCode(grant: Grant | undefined, code: string, client: OAuthClient): Grant {
  if (!grant || grant.clientId !== client._id)
    throw invalidGrant(describeMistake('code', code, 'code') ?? 'Unknown authorization code for this client');
  if (client.kind !== 'oauth') {
    throw invalidGrant('Codes of a storefront client are exchanged at the storefront endpoint');
  }
  return grant;
}

/** Returns the error for a wrong redirect URI. For a test client, it names both values, so that developers see the difference. */
function redirectFault(grant: Grant, { redirect_uri: sent }: TokenRequest, { mode }: OAuthClient): ApiError {
  const text = errorTable.invalid_redirect_uri.text;
  const both = `${text}: sent ${showSent(sent)}, used ${showSent(grant.redirectUri)}`;
  return new ApiError('invalid_redirect_uri', mode === 'test' ? { description: both } : {});
}

/** Whether the `code_verifier` matches the challenge (RFC 7636 4.6, method S256). */
function verifierMatches(grant: Grant, request: TokenRequest): boolean {
  return sameText(sha256(request.code_verifier), grant.codeChallenge);
}

/**
 * Returns why an unused code may not be exchanged; undefined if it may. The order is that of docs/tokens-and-claims.md. A wrong
 * verifier is returned as a text, because its error depends on how many were sent before.
 * @param client the client as it is now. It may have lost a claim since the session began
 * @param now milliseconds since the epoch
 */
function codeFault(
  grant: Grant,
  request: TokenRequest,
  { client, now }: { client: OAuthClient; now: number },
): ApiError | 'wrong verifier' | undefined {
  if (grant.wrongVerifiers >= maxWrongVerifiers)
    return invalidGrant('Too many wrong code_verifiers for this code');
  if (grant.expiresAt.getTime() <= now) return invalidGrant('The authorization code has expired');
  // Compared byte for byte, including a trailing slash (interface 2.2).
  if (grant.redirectUri !== request.redirect_uri) return redirectFault(grant, request, client);
  if (!verifierMatches(grant, request)) return 'wrong verifier';
  const lost = grantedScope(grant).filter((name) => !client.claims.includes(name));
  if (lost.length > 0) {
    return new ApiError('invalid_scope', {
      description: `This client may no longer ask for ${lost.join(', ')}`,
    });
  }
  if (grant.enrollment.status === 'withdrawn')
    return invalidGrant('The user has withdrawn the consent that this code was issued for');
  return grant.enrollment.status === 'active' ? undefined : new ApiError('access_denied');
}

/**
 * `POST /api/oauth/token` (interface 4.2): exchanges a code for a charge and a token. The checks are in the order of
 * docs/tokens-and-claims.md.
 */
export function createTokenExchange(dependencies: Dependencies) {
  const { clients, charges, grants, revoke, tokens, signIdToken, clock } = dependencies;

  /** Returns the error for a used code. Two workers of a partner may send a code together, but a later replay may be a theft. */
  async function usedCode({ id, at }: PastCharge): Promise<ApiError> {
    if (clock.now() - at.getTime() > concurrentUseWindowMs) await revoke(id);
    return invalidGrant(`Authorization code already used at ${at.toISOString()}; charge ${id}`);
  }

  async function wrongVerifier({ sessionId, codeChallenge }: Grant, sent: string): Promise<ApiError> {
    const left = maxWrongVerifiers - (await grants.countWrongVerifier(sessionId));
    const hint = sent === codeChallenge ? '. It is the code_challenge itself' : '';
    return invalidGrant(
      `code_verifier does not match the code_challenge; ${Math.max(0, left)} tries are left for this code${hint}`,
    );
  }

  const respond = (access: Access): TokenResponse => ({
    access_token: tokens.sign(access),
    token_type: 'Bearer',
    expires_in: accessTokenLifetimeSeconds,
    scope: access.scope,
  });

  /** Makes the response to a start with the scope `openid`. An RSA signature is made on another thread, during the insert. */
  function respondWithIdToken(openid: OpenidGrant, { idTokenAlg: alg = 'RS256' }: OAuthClient) {
    return (access: Access): Promise<OpenidTokenResponse> => {
      const response = respond(access);
      const { access_token: accessToken } = response;
      const signed = signIdToken({ access, accessToken, openid, alg });
      const answer = signed.then((idToken) => ({ ...response, id_token: idToken }));
      // If the charge fails, nothing waits for the signature.
      answer.catch(() => undefined);
      return answer;
    };
  }

  return async (
    request: TokenRequest,
    credentials: Credentials,
    context: RequestContext,
  ): Promise<TokenResponse | OpenidTokenResponse> => {
    // The client comes from a cache. If `admit` or `withClaims` would refuse it, they read it again, and return that one.
    const caller = await clients.authenticate(credentials);
    const cause = sha256(request.code);
    const [admitted, found] = await Promise.all([clients.admit(caller.client), grants.load(request.code)]);
    const grant = requireOwnCode(found, request.code, admitted);
    const client = await clients.withClaims(admitted, grantedScope(grant));

    const fault = codeFault(grant, request, { client, now: clock.now() });
    if (fault) {
      // If the code was used, that error takes precedence over all others.
      const past = await charges.past({ ...caller.client, cause });
      if (past) throw await usedCode(past);
      throw fault === 'wrong verifier' ? await wrongVerifier(grant, request.code_verifier) : fault;
    }

    const { openid } = grant;
    const granted = openid ? openidTermsOf(grant, client) : termsOf(grant, client);
    const terms = { ...granted, lifetimeSeconds: accessTokenLifetimeSeconds };
    const { prices } = caller.partner;
    const answer = openid ? respondWithIdToken(openid, client) : respond;
    const charged = await charges.charge<TokenResponse | Promise<OpenidTokenResponse>>(
      { kind: 'token', cause, terms, prices, ...context },
      answer,
    );
    if (charged.outcome === 'used') throw await usedCode(charged.past);
    return charged.answer;
  };
}
