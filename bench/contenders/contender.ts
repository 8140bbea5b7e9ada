import { createHash } from 'node:crypto';
import type { LoadRequest } from '../load/load.ts';

/**
 * Whose codes are redeemed: all of one partner's client, or in turn of many partners' clients. `usual`: of as many, whose limits
 * nobody has raised.
 */
export type PartnerSet = 'one' | 'many' | 'usual';

/** An authorization server under load. */
export interface Contender {
  name: string;
  /** Where its processes listen. */
  origins: readonly string[];
  /** Its server processes, for their processor time. */
  pids: readonly number[];
  tokenPath: string;
  userinfoPath: string | undefined;
  /** Makes fresh codes and the requests that redeem each of them once. */
  prepareExchanges(count: number, partnerSet: PartnerSet): Promise<LoadRequest[]>;
  /** Fresh access tokens of the one partner's users, as userinfo requests; none of them was seen before. */
  prepareUserinfo(count: number): Promise<LoadRequest[]>;
  /** To be told how many codes were redeemed. @throws where the contender's own books say otherwise */
  settle(redeemed: number): Promise<void>;
}

export const partnersInCrowd = 200;
/** So few that a process knows their clients from the turn before. */
export const usualPartners = 60;
export const redirectUri = 'https://partner.example/callback';
export const scope = 'age_18_plus identity_verified';

/** One PKCE pair serves all codes: what it costs to check does not depend on it. */
export const codeVerifier = 'bench-verifier-0123456789-0123456789-0123456789';
export const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');

export interface Credentials {
  clientId: string;
  clientSecret: string;
}

/** RFC 6749 4.1.3 with PKCE and client_secret_post. */
export function tokenRequest({ clientId, clientSecret }: Credentials, code: string): LoadRequest {
  const fields = {
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    client_secret: clientSecret,
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  };
  return { body: new URLSearchParams(fields).toString() };
}

export const userinfoRequest = (token: string): LoadRequest => ({ authorization: `Bearer ${token}` });
