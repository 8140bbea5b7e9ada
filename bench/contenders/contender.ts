import { createHash } from 'node:crypto';
import type { LoadRequest } from '../load/load.ts';

/**
 * The owners of the codes: one partner's client, or many partners' clients in turn. `usual`: many partners with default
 * limits.
 */
export type PartnerSet = 'one' | 'many' | 'usual';

/** An authorization server under load. */
export interface Contender {
  name: string;
  /** Addresses of its processes. */
  origins: readonly string[];
  /** Its server processes, to measure their processor time. */
  pids: readonly number[];
  tokenPath: string;
  userinfoPath: string | undefined;
  /** Creates new codes, and the requests that exchange each of them once. */
  prepareExchanges(count: number, partnerSet: PartnerSet): Promise<LoadRequest[]>;
  /** New access tokens of one partner's users, as userinfo requests. */
  prepareUserinfo(count: number): Promise<LoadRequest[]>;
  /** Checks the contender's own records against the number of exchanged codes. @throws if they differ */
  settle(redeemed: number): Promise<void>;
}

export const manyPartners = 200;
/** A small number, so that a process has cached the clients since the previous turn. */
export const usualPartners = 60;
export const redirectUri = 'https://partner.example/callback';
export const scope = 'age_18_plus identity_verified';

/** One PKCE pair serves all codes, because the cost of its check does not depend on it. */
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
