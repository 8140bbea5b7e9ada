import type { Access, Charging, PastCharge } from '../../contracts/charge.ts';
import { type Grant, grantedScope, termsOf } from '../../contracts/grant.ts';
import { accessTokenLifetime, type TokenRequest, type TokenResponse } from '../../contracts/oauth.ts';
import { ApiError } from '../platform/errors.ts';
import type { Waiting } from '../platform/http/deadline.ts';
import { sha256 } from '../platform/ids.ts';
import type { AccessTokens } from './access-token.ts';
import type { Authenticated, ClientAuthentication, Credentials } from './client-authentication.ts';
import { codeFault, largestWrongVerifiers, requireOwnCode } from './grant.ts';

interface Dependencies {
  clients: Pick<ClientAuthentication, 'authenticate' | 'admit' | 'permitted' | 'eventKey'>;
  charges: Charging<Authenticated>;
  grants: {
    load(code: string): Promise<Grant | undefined>;
    /** Resolves to the number of wrong verifiers, this one included. */
    countWrongVerifier(sessionId: string): Promise<number>;
  };
  revoke: (accessId: string) => Promise<void>;
  tokens: Pick<AccessTokens, 'sign'>;
  clock: { now(): number };
}

/** A code used again later than this after its first use has its token revoked (RFC 6749 4.1.2); milliseconds. */
const raceWindow = 10_000;

/** `POST /api/oauth/token` (interface 4.2): exchanges a code for a charge and a token. The checks are in the order of docs/tokens-and-claims.md. */
export function createTokenExchange({ clients, charges, grants, revoke, tokens, clock }: Dependencies) {
  /** Two workers of one partner may race; a replay later than that may be a thief's. */
  async function usedCode({ id, at }: PastCharge): Promise<ApiError> {
    if (clock.now() - at.getTime() > raceWindow) await revoke(id);
    return new ApiError('invalid_grant', {
      description: `Authorization code already used at ${at.toISOString()}; charge ${id}`,
    });
  }

  async function wrongVerifier({ sessionId }: Grant): Promise<ApiError> {
    const left = largestWrongVerifiers - (await grants.countWrongVerifier(sessionId));
    return new ApiError('invalid_grant', {
      description: `code_verifier does not match the code_challenge; ${Math.max(0, left)} tries are left for this code`,
    });
  }

  const respond = (access: Access): TokenResponse => ({
    access_token: tokens.sign(access),
    token_type: 'Bearer',
    expires_in: accessTokenLifetime,
    scope: access.scope,
  });

  return async (
    request: TokenRequest,
    credentials: Credentials,
    waiting: Waiting,
  ): Promise<TokenResponse> => {
    const caller = await clients.authenticate(credentials);
    const cause = sha256(request.code);
    const [admitted, found] = await Promise.all([clients.admit(caller.client), grants.load(request.code)]);
    const grant = requireOwnCode(found, admitted);
    const client = await clients.permitted(admitted, grantedScope(grant));

    const fault = codeFault(grant, request, { client, now: clock.now() });
    if (fault) {
      // That a code was used comes before everything else about it.
      const past = await charges.past({ ...caller, cause });
      if (past) throw await usedCode(past);
      throw fault === 'wrong verifier' ? await wrongVerifier(grant) : fault;
    }

    const keyId = await clients.eventKey(grant.keyId, client);
    const terms = { ...termsOf(grant, client), keyId, lifetimeSeconds: accessTokenLifetime };
    const charged = await charges.charge({ ...caller, cause, terms, waiting }, respond);
    if (charged.outcome === 'used') throw await usedCode(charged.past);
    return charged.answer;
  };
}
