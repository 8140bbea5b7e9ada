import { TokenResponse } from '../../contracts/oauth.ts';
import { createShop, type Shop, sign } from '../api/storefront/shop.ts';
import { completeSession } from '../harness/completed-session.ts';
import {
  type Code,
  createPartner,
  post,
  type TestPartner,
  tokenForm,
  verifyUser,
} from '../harness/partner.ts';
import { type QuickResponse, quickFetch } from '../harness/quick-fetch.ts';
import { manualClock, startTestServer } from '../harness/server.ts';
import { createBrowser } from '../journey/browser.ts';
import { newStart, startUrl } from '../journey/pkce.ts';
import { type Answer, conform } from './conformance.ts';

export const minute = 60_000;
export const hour = 3_600_000;
const redirectUri = 'http://localhost:9999/callback';

/** Changed headers or fields. The value undefined leaves one out. */
type Changes = Record<string, string | undefined>;

const present = (fields: Changes): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );

/** The encoding of a body. */
interface Encoding {
  as?: 'form' | 'json' | undefined;
}

/** Whether the clients speak OpenID Connect. The contract holds for them too, so CI runs its tests in both ways. */
const speaksOpenid = process.env['SVC_TEST_OPENID'] === 'on';

type Settings = Parameters<typeof startTestServer>[0];

/** Starts the service with a manual clock, and returns calls that check every response against the contract. */
export async function startHarness(settings: Settings = {}) {
  let trusted = true;
  // Starts ten seconds into an hour, so that the windows of the limits are known.
  const start = Math.ceil(Date.now() / hour) * hour + 10_000;
  const clock = { ...manualClock(start), trusted: () => trusted };
  const server = await startTestServer({ clock, ...settings });
  const { baseUrl, admin } = server;
  const url = (path: string) => `${baseUrl}${path}`;
  const call = async (endpoint: string, response: Promise<QuickResponse>): Promise<Answer> =>
    conform(endpoint, await response);

  const harness = {
    server,
    baseUrl,
    admin,
    clock,
    stop: server.stop,
    trust: (on: boolean) => {
      trusted = on;
    },
    /** Advances to the next minute or hour, where all windows are empty. */
    next: (length = minute) => clock.set((Math.floor(clock.now() / length) + 1) * length),

    /** Advances the clock, and makes jobs due earlier by the same time, because jobs start by the machine's clock. */
    async pass(ms: number) {
      clock.advance(ms);
      const earlier = { $set: { nextRunAt: { $subtract: ['$nextRunAt', ms] } } };
      await server.db.collection('jobs').updateMany({ nextRunAt: { $type: 'date' } }, [earlier]);
    },

    /** Creates an active partner. Its client has a very high limit at the token endpoint. */
    partner: ({ client = {}, ...wanted }: Parameters<typeof createPartner>[1] = {}) =>
      createPartner(server, {
        ...wanted,
        client: {
          openid: speaksOpenid && client.kind !== 'storefront',
          tokenRequestsPerMinute: 100_000,
          ...client,
        },
      }),
    shop: (wanted?: Parameters<typeof createShop>[1]) => createShop(server, wanted),
    verifyUser: (by: TestPartner, person = 'adult', scope = 'age_18_plus country') =>
      completeSession(server, by, person, scope),
    /** Like `verifyUser`, but by the hosted pages. Also returns the redirect. */
    walkPages: (by: TestPartner, person = 'adult', scope = 'age_18_plus country') =>
      verifyUser(server, by, person, scope),
    balance: async ({ partnerId }: Pick<TestPartner, 'partnerId'>) =>
      (await admin.wallets.show.query({ partnerId, mode: 'test' })).balance,

    /** Sends a start (interface 4.1) as a program does. For a start as by a browser, set `accept`. */
    start(by: TestPartner, changes: Changes = {}, accept = 'application/json') {
      const { codeChallenge, state } = newStart();
      const whole = startUrl({
        baseUrl,
        clientId: by.clientId,
        redirectUri,
        scope: 'age_18_plus country',
        state,
        codeChallenge,
      });
      const query = present({ ...Object.fromEntries(new URL(whole).searchParams), ...changes });
      const address = `${url('/verify/start')}?${new URLSearchParams(query).toString()}`;
      return call('GET /verify/start', quickFetch(address, { headers: { accept } }));
    },

    /** Opens the first page of a new session in a browser. */
    async open(by: TestPartner, scope = 'age_18_plus country') {
      const browser = createBrowser(baseUrl, quickFetch);
      const { codeChallenge, state } = newStart();
      const { clientId } = by;
      const first = await browser.open(
        startUrl({ baseUrl, clientId, redirectUri, scope, state, codeChallenge }),
      );
      const [sessionId = ''] = /ses_[0-9A-Za-z]+/.exec(first.url) ?? [];
      return { browser, first, sessionId, state };
    },

    exchange: (by: TestPartner, code: Code, { as, ...changes }: Changes & Encoding = {}) =>
      call(
        'POST /api/oauth/token',
        post(url('/api/oauth/token'), present({ ...tokenForm(by, code), ...changes }), as),
      ),

    userinfo: (authorization: string | undefined, query = '') =>
      call(
        'GET /api/oauth/userinfo',
        quickFetch(url(`/api/oauth/userinfo${query}`), { headers: present({ authorization }) }),
      ),

    revoke: (by: TestPartner, token: string | undefined, { as, ...changes }: Changes & Encoding = {}) =>
      call(
        'POST /api/oauth/revoke',
        post(
          url('/api/oauth/revoke'),
          present({ token, client_id: by.clientId, client_secret: by.clientSecret, ...changes }),
          as,
        ),
      ),

    session: (sessionId: string, authorization: string | undefined) =>
      call(
        'GET /api/verify/hvf-session/{session_id}',
        quickFetch(url(`/api/verify/hvf-session/${sessionId}`), { headers: present({ authorization }) }),
      ),

    storefront(by: Shop, fields: Record<string, unknown>, changes: Changes = {}) {
      const body = JSON.stringify(fields);
      const headers = { 'content-type': 'application/json', ...sign(by, body, clock.now()), ...changes };
      const path = '/api/integrations/storefront/verify/exchange';
      return call(`POST ${path}`, quickFetch(url(path), { method: 'POST', headers: present(headers), body }));
    },

    checkbox: (by: TestPartner, fields: Record<string, unknown>, idempotencyKey: string) =>
      call(
        'POST /api/checkbox/resolve',
        quickFetch(url('/api/checkbox/resolve'), {
          method: 'POST',
          headers: {
            authorization: `Bearer ${by.apiKey}`,
            'idempotency-key': idempotencyKey,
            'content-type': 'application/json',
          },
          body: JSON.stringify(fields),
        }),
      ),

    /** Verifies a user, and exchanges the code for an access token. */
    async token(by: TestPartner, person?: string, scope?: string): Promise<string> {
      const answer = await harness.exchange(by, await harness.verifyUser(by, person, scope));
      return TokenResponse.parse(answer.body).access_token;
    },

    /** Returns the id of the partner's newest enrollment. */
    async enrollment({ partnerId }: Pick<TestPartner, 'partnerId'>): Promise<string> {
      const [newest] = await admin.enrollments.list.query({ partnerId, limit: 1 });
      return newest?.id ?? '';
    },
  };
  return harness;
}
export type Harness = Awaited<ReturnType<typeof startHarness>>;
