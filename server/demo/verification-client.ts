import { createHash, randomBytes } from 'node:crypto';
import type { Account, DemoAccount } from './account.ts';
import type { Call, PublicApi } from './exchange.ts';
import type { Received, Receiver } from './receiver.ts';

/** A verification of a visitor, as the partner's server remembers it. */
export interface Verification {
  id: string;
  at: Date;
  state: string;
  codeVerifier: string;
  startUrl: string;
  /** Cents in the wallet before and after. */
  before: number;
  after?: number;
  /** The parameters of the redirect. */
  returned?: Record<string, string>;
  token?: Call;
  userinfo?: Call;
  session?: Call;
  revoked?: Call;
  afterRevocation?: Call;
}

interface Dependencies {
  account: DemoAccount;
  api: PublicApi;
  receiver: Receiver;
  /** The `iss` that the redirect must have (RFC 9207). */
  issuer: string;
}

const scope = 'age_18_plus country';
const mostKept = 50;
const random = () => randomBytes(24).toString('base64url');

const textOf = (call: Call | undefined, name: string) => {
  const value = call?.body?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** Makes the partner's side of verifications: begins them, takes the redirect, exchanges the code, reads and revokes. */
export function createVerifications({ account, api, receiver, issuer }: Dependencies) {
  const verifications = new Map<string, Verification>();

  /** Returns the events of a verification. They are matched by time, because the demo has one visitor. */
  const eventsOf = (verification: Verification): Received[] => receiver.since(verification.at);

  /** Returns the id of the session, which a partner learns from its events. */
  function sessionOf(verification: Verification): string | undefined {
    const event = eventsOf(verification).find(({ body }) => 'session_id' in body);
    return event && String(event.body['session_id']);
  }

  async function exchange(verification: Verification, owner: Account, code: string): Promise<void> {
    verification.token = await api.exchange(owner, code, verification.codeVerifier);
    const token = textOf(verification.token, 'access_token');
    if (token) verification.userinfo = await api.userinfo(token);
    verification.after = await account.balance();
  }

  return {
    eventsOf,
    find: (id: string | undefined): Verification | undefined =>
      id === undefined ? undefined : verifications.get(id),

    async begin(source: string | null): Promise<Verification> {
      const owner = await account.ensure();
      await account.verifyBy(source);
      const codeVerifier = random() + random();
      const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
      const state = random();
      const startUrl = api.startUrl(owner, { state, codeChallenge, scope });
      const before = await account.balance();
      const verification: Verification = {
        id: random(),
        at: new Date(),
        state,
        codeVerifier,
        startUrl,
        before,
      };
      verifications.set(verification.id, verification);
      for (const oldest of [...verifications.keys()].slice(0, -mostKept)) verifications.delete(oldest);
      return verification;
    },

    /** Handles the redirect. @returns whether it belongs to this verification */
    async finish(verification: Verification, returned: Record<string, string>): Promise<boolean> {
      const isExpected = returned['state'] === verification.state && returned['iss'] === issuer;
      if (!isExpected) return false;
      if (verification.returned) return true;
      verification.returned = returned;
      if (returned['code']) await exchange(verification, await account.ensure(), returned['code']);
      else verification.after = await account.balance();
      return true;
    },

    /** Queries the session once an event has named it. */
    async querySession(verification: Verification): Promise<void> {
      const sessionId = sessionOf(verification);
      if (sessionId && !verification.session)
        verification.session = await api.querySession(await account.ensure(), sessionId);
    },

    async revoke(verification: Verification): Promise<void> {
      const token = textOf(verification.token, 'access_token');
      if (!token) return;
      verification.revoked = await api.revoke(await account.ensure(), token);
      verification.afterRevocation = await api.userinfo(token);
    },
  };
}
export type Verifications = ReturnType<typeof createVerifications>;
