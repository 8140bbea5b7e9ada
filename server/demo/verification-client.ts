import { createHash, randomBytes } from 'node:crypto';
import type { Account, DemoAccount } from './account.ts';
import type { Call, PublicApi } from './exchange.ts';
import type { Received, Receiver } from './receiver.ts';

/** One person's way through the demo, as the partner's server remembers it. */
export interface Verification {
  id: string;
  at: Date;
  state: string;
  codeVerifier: string;
  startUrl: string;
  /** Cents in the wallet before and after. */
  before: number;
  after?: number;
  /** What the redirect brought. */
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
  /** `iss` that the redirect has to name (RFC 9207). */
  issuer: string;
}

const scope = 'age_18_plus country';
const kept = 50;
const random = () => randomBytes(24).toString('base64url');

const textOf = (call: Call | undefined, name: string) => {
  const value = call?.body?.[name];
  return typeof value === 'string' ? value : undefined;
};

/** What the demo's partner does about each verification: begin it, take the redirect, exchange, read, revoke. */
export function createVerifications({ account, api, receiver, issuer }: Dependencies) {
  const verifications = new Map<string, Verification>();

  /** Events are matched by time: the demo has one visitor. */
  const eventsOf = (verification: Verification): Received[] => receiver.since(verification.at);

  /** The session's identifier, which a partner learns from its events. */
  function sessionOf(verification: Verification): string | undefined {
    const told = eventsOf(verification).find(({ body }) => 'session_id' in body);
    return told && String(told.body['session_id']);
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
      for (const oldest of [...verifications.keys()].slice(0, -kept)) verifications.delete(oldest);
      return verification;
    },

    /** @returns whether the redirect was the one that this verification waited for */
    async finish(verification: Verification, returned: Record<string, string>): Promise<boolean> {
      const isMine = returned['state'] === verification.state && returned['iss'] === issuer;
      if (!isMine) return false;
      if (verification.returned) return true;
      verification.returned = returned;
      if (returned['code']) await exchange(verification, await account.ensure(), returned['code']);
      else verification.after = await account.balance();
      return true;
    },

    /** Asks for the session as soon as its events have named it. */
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
