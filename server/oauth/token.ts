import { type Grant, type GrantTerms, grantedScope, termsOf } from '../../contracts/grant.ts';
import { accessTokenLifetime, type TokenRequest, type TokenResponse } from '../../contracts/oauth.ts';
import { ApiError } from '../platform/errors.ts';
import type { Waiting } from '../platform/http/in-time.ts';
import { sha256 } from '../platform/ids.ts';
import type { AccessTokens } from './access-token.ts';
import type {
  Authenticated,
  ClientAuthentication,
  Credentials,
  OAuthClient,
} from './client-authentication.ts';
import {
  largestWrongVerifiers,
  requireActiveEnrollment,
  requireLive,
  requireOwnCode,
  requirePermittedScope,
  requireSameRedirect,
  verifierMatches,
} from './grant.ts';

/** The access that was bought with a code, as far as this endpoint is concerned. */
export interface BoughtAccess {
  _id: string;
  sub: string;
  clientId: string;
  scope: string;
  at: Date;
  expiresAt: Date;
}

/** What decides over a code besides its history. */
interface Facts {
  grant: Grant | undefined;
  /** With a key that is active. */
  client: OAuthClient;
}

/** What happened to a code before this request. */
type History = { state: 'open' } | { state: 'used'; access: BoughtAccess } | { state: 'exhausted' };

interface Dependencies {
  clients: Pick<ClientAuthentication, 'authenticate' | 'admit' | 'isAtLimit' | 'permitted'>;
  /** Charges the partner's wallet once for `cause` and commits the access: the exchange core in billing. */
  buy: (
    purchase: Authenticated & {
      cause: string;
      waiting: Waiting;
      read: () => Promise<Facts>;
      decide: (facts: Facts, history: History) => Promise<GrantTerms & { lifetime: number }>;
      meanwhile: (access: BoughtAccess) => void;
    },
  ) => Promise<BoughtAccess>;
  grants: {
    load(codeHash: string): Promise<Grant | undefined>;
    /** Resolves to the number of wrong verifiers, this one included. */
    countWrongVerifier(codeHash: string): Promise<number>;
  };
  revoke: (accessId: string) => Promise<void>;
  tokens: Pick<AccessTokens, 'sign'>;
  clock: { now(): number };
}

/** A code used again later than this after its first use takes its token with it (RFC 6749 4.1.2); milliseconds. */
const raceWindow = 10_000;

/** `POST /api/oauth/token` (interface 4.2): code → hold → access → token, judged in the order of decisions.md. */
export function createTokenExchange({ clients, buy, grants, revoke, tokens, clock }: Dependencies) {
  /** Two workers of one partner may race; a replay later than that may be a thief's. */
  async function refuseUsed(access: BoughtAccess): Promise<never> {
    if (clock.now() - access.at.getTime() > raceWindow) await revoke(access._id);
    throw new ApiError('invalid_grant', {
      description: `Authorization code already used at ${access.at.toISOString()}; charge ${access._id}`,
    });
  }

  async function requireVerifier(grant: Grant, request: TokenRequest, codeHash: string): Promise<void> {
    if (verifierMatches(grant, request)) return;
    const left = largestWrongVerifiers - (await grants.countWrongVerifier(codeHash));
    throw new ApiError('invalid_grant', {
      description: `code_verifier does not match the code_challenge; ${Math.max(0, left)} tries are left for this code`,
    });
  }

  return async (
    request: TokenRequest,
    credentials: Credentials,
    waiting: Waiting,
  ): Promise<TokenResponse> => {
    const { client: caller, partner } = await clients.authenticate(credentials);
    const codeHash = sha256(request.code);
    // Who is at its limit is refused at once, and does not travel with others' exchanges.
    let admission = clients.isAtLimit(caller) ? clients.admit(caller) : undefined;
    await admission;
    let signed: { token: string; of: BoughtAccess } | undefined;

    const access = await buy({
      cause: codeHash,
      client: caller,
      partner,
      waiting,
      async read() {
        admission ??= clients.admit(caller);
        const [grant, client] = await Promise.all([grants.load(codeHash), admission]);
        return { grant, client };
      },
      async decide({ grant: found, client }, history) {
        const grant = requireOwnCode(found, client);
        if (history.state === 'used') await refuseUsed(history.access);
        if (history.state === 'exhausted') throw new ApiError('invalid_grant');
        requireLive(grant, clock.now());
        requireSameRedirect(grant, request);
        await requireVerifier(grant, request, codeHash);
        const current = await clients.permitted(client, grantedScope(grant));
        requirePermittedScope(grant, current);
        requireActiveEnrollment(grant);
        return { ...termsOf(grant, current), lifetime: accessTokenLifetime };
      },
      meanwhile(access) {
        signed = { token: tokens.sign(access), of: access };
      },
    });
    return {
      access_token: signed?.of === access ? signed.token : tokens.sign(access),
      token_type: 'Bearer',
      expires_in: accessTokenLifetime,
      scope: access.scope,
    };
  };
}
