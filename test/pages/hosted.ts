import type { MongoClient } from 'mongodb';
import { Pool } from 'undici';
import { expect, vi } from 'vitest';
import type { CreateClient } from '../../contracts/admin/clients.ts';
import type { Mode } from '../../contracts/identifiers.ts';
import { createVerificationStores, type VerificationStores } from '../../server/people/store.ts';
import type { EventStore } from '../../server/webhooks/delivery/event-store.ts';
import { createPartner, type TestPartner, tokenForm } from '../harness/partner.ts';
import { manualClock, startTestServer } from '../harness/server.ts';
import { lossyDatabase } from '../platform/database/lossy.ts';

export const baseUrl = 'https://verify.example';
export const redirectUri = 'https://shop.example/callback?tenant=a%2Fb';
export const state = 'st/ä&=+ %41-0123456789';
/** The example of RFC 7636, Appendix B. */
const codeVerifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const codeChallenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

export type Hosted = Awaited<ReturnType<typeof startHosted>>;

interface Request {
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT';
  headers?: Record<string, string>;
  body?: string;
}

type Settings = NonNullable<Parameters<typeof startTestServer>[0]>;

/** Starts the service at a fixed address, with a manual clock, and with parts that tests observe or disturb. */
export async function startHosted({ env = {}, onCommand }: Pick<Settings, 'env' | 'onCommand'> = {}) {
  const parts = {} as { stores: VerificationStores; eventStore: EventStore; client: MongoClient };
  const losses: ReturnType<typeof lossyDatabase>['losses'] = [];
  const clock = manualClock();
  const server = await startTestServer({
    clock,
    env: { SVC_BASE_URL: baseUrl, ...env },
    ...(onCommand ? { onCommand } : {}),
    replacements: {
      sweepsByHand: true,
      foundation({ db, client }) {
        const stores = createVerificationStores(lossyDatabase(db, losses).db);
        Object.assign(parts, { stores, client });
        if (onCommand) client.on('commandStarted', onCommand);
        return {
          stores: { verification: stores },
          webhooks: {
            wrap(webhooks) {
              parts.eventStore = webhooks.events;
              return webhooks;
            },
          },
        };
      },
    },
  });
  const connections = new Pool(server.publicUrl);
  return {
    ...server,
    ...parts,
    clock,
    /** Says for each of the next group writes of the hosted flow whether its command or its reply is lost. */
    losses,
    grants: server.services.verification.grants,
    /** Returns published events. */
    events: (filter: Record<string, string | undefined>) =>
      server.db.collection('events').find(filter).toArray(),
    sweepFlow: () => server.services.verification.sweep.sweep(),

    /** Sends a request without changing its path or following redirects. */
    async send(path: string, { method = 'GET', headers = {}, body }: Request = {}) {
      const { host } = new URL(server.baseUrl);
      const all = { host, ...headers };
      const answer = await connections.request({ path, method, headers: all, body: body ?? null });
      return { status: answer.statusCode, headers: answer.headers, body: await answer.body.text() };
    },

    async close() {
      await connections.close();
      await server.stop();
    },
  };
}

type Wanted = Partial<CreateClient> & { mode?: Mode };

/** Creates an active partner with a key and a client, but without money. */
export const onboard = (hosted: Hosted, { mode = 'test', ...client }: Wanted = {}) =>
  createPartner(hosted, { name: 'Weinhaus <Grün>', mode, funds: 0, client: { ...shop, ...client } });

const shop = {
  name: 'Shop',
  redirectUris: [redirectUri],
  claims: ['age_18_plus', 'country'] satisfies CreateClient['claims'],
};

/** Creates one more client of a key. @returns the client's id */
export async function addClient(
  { admin }: Hosted,
  { partnerId, keyId }: Pick<TestPartner, 'partnerId' | 'keyId'>,
): Promise<string> {
  return (await admin.clients.create.mutate({ partnerId, keyId, ...shop })).id;
}

/** Funds the partner's wallet, and exchanges the code. @returns the answer of the token endpoint */
export async function sendCode({ admin, send }: Hosted, partner: TestPartner, code = '') {
  const { partnerId } = partner;
  await admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 5_000, reference: 'opening' });
  const body = new URLSearchParams(tokenForm(partner, { code, codeVerifier })).toString();
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await send('/api/oauth/token', { method: 'POST', headers, body });
  return { status: answer.status, body: JSON.parse(answer.body) as Record<string, string> };
}

/** Funds the partner's wallet, and exchanges the code with success. */
export async function exchange(hosted: Hosted, partner: TestPartner, code = ''): Promise<void> {
  expect((await sendCode(hosted, partner, code)).status).toBe(200);
}

/** Returns a valid query of `/verify/start`. `changes` replace parameters; undefined removes one. */
export function startQuery(clientId: string, changes: Record<string, string | undefined> = {}): string {
  const parameters: Record<string, string | undefined> = {
    client_id: clientId,
    redirect_uri: redirectUri,
    state,
    scope: 'age_18_plus shoe_size country age_18_plus',
    code_challenge: codeChallenge,
    code_challenge_method: 'S256',
    ...changes,
  };
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => pair[1] !== undefined);
  return new URLSearchParams(given).toString();
}

/** Returns the parameters of the redirect to the partner, as the partner's framework would parse them. */
export function returned(location: string): Record<string, string> {
  expect(location.startsWith(redirectUri)).toBe(true);
  return Object.fromEntries(new URL(location).searchParams);
}

/** Runs `change` once for each enrollment of the next read, after the read and before its result is used. */
export function changeAfterRead(
  { enrollments }: Pick<VerificationStores, 'enrollments'>,
  change: (enrollmentId: string) => Promise<unknown>,
): void {
  const { findAll } = enrollments;
  vi.spyOn(enrollments, 'findAll').mockImplementationOnce(async (ids) => {
    const asRead = await findAll(ids);
    for (const id of ids) await change(id);
    return asRead;
  });
}
