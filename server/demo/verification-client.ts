import { createHash, randomBytes } from 'node:crypto';
import type { Account, DemoAccount } from './account.ts';
import type { Call, PublicApi } from './exchange.ts';
import type { Received, Receiver } from './receiver.ts';

/** One person's way through the demo, as the partner's server remembers it. */
export interface Visit {
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

/** What the demo's partner does about each visit: begin it, take the redirect, exchange, read, revoke. */
export function createVisits({ account, api, receiver, issuer }: Dependencies) {
  const visits = new Map<string, Visit>();

  /** Events are matched by time: the demo has one visitor. */
  const eventsOf = (visit: Visit): Received[] => receiver.since(visit.at);

  /** The session's identifier, which a partner learns from its events. */
  function sessionOf(visit: Visit): string | undefined {
    const told = eventsOf(visit).find(({ body }) => 'session_id' in body);
    return told && String(told.body['session_id']);
  }

  async function exchange(visit: Visit, owner: Account, code: string): Promise<void> {
    visit.token = await api.exchange(owner, code, visit.codeVerifier);
    const token = textOf(visit.token, 'access_token');
    if (token) visit.userinfo = await api.userinfo(token);
    visit.after = await account.balance();
  }

  return {
    eventsOf,
    find: (id: string | undefined): Visit | undefined => (id === undefined ? undefined : visits.get(id)),

    async begin(source: string | null): Promise<Visit> {
      const owner = await account.ensure();
      await account.verifyBy(source);
      const codeVerifier = random() + random();
      const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
      const state = random();
      const startUrl = api.startUrl(owner, { state, codeChallenge, scope });
      const before = await account.balance();
      const visit: Visit = { id: random(), at: new Date(), state, codeVerifier, startUrl, before };
      visits.set(visit.id, visit);
      for (const oldest of [...visits.keys()].slice(0, -kept)) visits.delete(oldest);
      return visit;
    },

    /** @returns whether the redirect was the one that this visit waited for */
    async finish(visit: Visit, returned: Record<string, string>): Promise<boolean> {
      const isMine = returned['state'] === visit.state && returned['iss'] === issuer;
      if (!isMine) return false;
      if (visit.returned) return true;
      visit.returned = returned;
      if (returned['code']) await exchange(visit, await account.ensure(), returned['code']);
      else visit.after = await account.balance();
      return true;
    },

    /** Asks for the session as soon as its events have named it. */
    async querySession(visit: Visit): Promise<void> {
      const sessionId = sessionOf(visit);
      if (sessionId && !visit.session)
        visit.session = await api.querySession(await account.ensure(), sessionId);
    },

    async revoke(visit: Visit): Promise<void> {
      const token = textOf(visit.token, 'access_token');
      if (!token) return;
      visit.revoked = await api.revoke(await account.ensure(), token);
      visit.afterRevocation = await api.userinfo(token);
    },
  };
}
export type Visits = ReturnType<typeof createVisits>;
