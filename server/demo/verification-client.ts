import { createHash, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Account, DemoAccount } from './account.ts';
import type { Call, PublicApi } from './exchange.ts';
import type { Received, Receiver } from './receiver.ts';

/** What the shop's server keeps about one verification of a visitor. */
export interface Verification {
  id: string;
  at: Date;
  state: string;
  codeVerifier: string;
  startUrl: string;
  /** The balance of the wallet before this verification, in cents. */
  balanceBefore: number;
  /** The balance of the wallet after the redirect was handled, in cents. Absent until then. */
  balanceAfter?: number;
  /** The parameters of the redirect. Absent until the visitor comes back. */
  redirectParameters?: Record<string, string>;
  tokenCall?: Call;
  userinfoCall?: Call;
  sessionCall?: Call;
  revokeCall?: Call;
  userinfoCallAfterRevocation?: Call;
}

interface Dependencies {
  account: DemoAccount;
  api: PublicApi;
  receiver: Receiver;
  /** The `iss` that the redirect must have (RFC 9207). */
  issuer: string;
}

const scope = 'age_18_plus country';
/** The most verifications that the shop remembers. It forgets those first that no request was about for the longest time. */
const mostKeptVerifications = 50;
/** Returns 32 random characters. */
const randomText = () => randomBytes(24).toString('base64url');

/** Returns a text in the JSON body of a response; undefined if there is none of this name. */
const textOf = (call: Call | undefined, name: string) => {
  const value = call?.body?.[name];
  return typeof value === 'string' ? value : undefined;
};

export function createVerifications({ account, api, receiver, issuer }: Dependencies) {
  const verifications = new LRUCache<string, Verification>({ max: mostKeptVerifications });

  /** Exchanges the code, reads the claims with the access token, and notes the calls and the new balance. */
  async function exchange(verification: Verification, credentials: Account, code: string): Promise<void> {
    verification.tokenCall = await api.exchange(credentials, code, verification.codeVerifier);
    const token = textOf(verification.tokenCall, 'access_token');
    if (token) verification.userinfoCall = await api.userinfo(token);
    verification.balanceAfter = await account.balance();
  }

  return {
    /** Returns the events of a verification. They are matched by time, because the demo has one visitor. */
    eventsOf: (verification: Verification): Received[] => receiver.since(verification.at),
    find: (id: string | undefined): Verification | undefined =>
      id === undefined ? undefined : verifications.get(id),

    /** Starts a verification. @param source the verification source; null is the sandbox */
    async begin(source: string | null): Promise<Verification> {
      const credentials = await account.ensure();
      await account.setSource(source);
      // A PKCE verifier has at least 43 characters (RFC 7636 4.1).
      const codeVerifier = randomText() + randomText();
      const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
      const state = randomText();
      const startUrl = api.startUrl(credentials, { state, codeChallenge, scope });
      const balanceBefore = await account.balance();
      const id = randomText();
      const verification = { id, at: new Date(), state, codeVerifier, startUrl, balanceBefore };
      verifications.set(id, verification);
      return verification;
    },

    /** Handles the redirect. @returns whether `state` and `iss` are those of this verification */
    async finish(verification: Verification, redirectParameters: Record<string, string>): Promise<boolean> {
      const { state, iss, code } = redirectParameters;
      if (state !== verification.state || iss !== issuer) return false;
      // The page was reloaded. The code has been exchanged already.
      if (verification.redirectParameters) return true;
      verification.redirectParameters = redirectParameters;
      // Without a code, nothing is billed. The page shows that the balance is the same.
      if (code) await exchange(verification, await account.ensure(), code);
      else verification.balanceAfter = await account.balance();
      return true;
    },

    /** Queries the session, whose id the redirect names. The page shows the first answer. */
    async querySession(verification: Verification): Promise<void> {
      const sessionId = verification.redirectParameters?.['session_id'];
      if (sessionId && !verification.sessionCall)
        verification.sessionCall = await api.querySession(await account.ensure(), sessionId);
    },

    /** Revokes the access token, and calls userinfo with it to show the refusal. */
    async revoke(verification: Verification): Promise<void> {
      const token = textOf(verification.tokenCall, 'access_token');
      if (!token) return;
      verification.revokeCall = await api.revoke(await account.ensure(), token);
      verification.userinfoCallAfterRevocation = await api.userinfo(token);
    },
  };
}
export type Verifications = ReturnType<typeof createVerifications>;
