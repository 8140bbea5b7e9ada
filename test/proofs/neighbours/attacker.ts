import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { mostRedirectUris } from '../../../contracts/admin/clients.ts';
import { createShop, sign } from '../../api/storefront/shop.ts';
import { addFullPages } from '../../billing/wallets/long-wallet.ts';
import { type SignedInMember, signedIn } from '../../console/portal/signed-in.ts';
import { createPartner, redirectUri } from '../../harness/partner.ts';
import { encodeJpeg } from '../../partners/jpeg-files.ts';
import type { Service } from './service.ts';

interface Call {
  /** Its name in the report: the path without the query, if none is given. */
  name?: string;
  path: string;
  method?: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: string;
}
/** Calls that share a limit, which are sent one after another at this rate. */
interface Lane {
  perMinute: number;
  calls: readonly Call[];
}

/** The most calls of the attacker that wait for an answer. */
const mostInFlight = 32;
/** The full pages of its wallet. With 128 entries each, they have the most entries of a signed statement. */
const fullPages = 77;
/** The number of its failed deliveries, which is the most that one call resends. */
const failedDeliveries = 500;

/** A receiver that never answers. */
async function startHangingReceiver() {
  const server = createServer(() => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/hooks`,
    close(): void {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function insertFailedDeliveries({ server }: Service, keyId: string): Promise<string[]> {
  const { id } = await server.admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
  const deliveries = server.db.collection<{ _id: string }>('deliveries');
  const sample = await deliveries.findOne({ _id: id });
  const ids = Array.from({ length: failedDeliveries }, (_, n) => `dlv_${String(n).padStart(22, '0')}`);
  const failed = { status: 'failed', endedAt: new Date(), lease: null, nextAttemptAt: null };
  await deliveries.insertMany(ids.map((_id) => ({ ...sample, ...failed, _id })));
  return ids;
}

/** The calls of a signed-in member, with the largest inputs. */
async function memberCalls(member: SignedInMember, own: Record<string, string>, ids: readonly string[]) {
  const { partnerId = '', keyId = '', clientId = '' } = own;
  const headers = { cookie: member.browser.cookie(), accept: 'text/html' };
  const csrf = await member.csrf();
  const page = (path: string): Call => ({ path: `/portal/${path}`, headers });
  const query = (name: string, input: object): Call => ({
    path: `/portal/trpc/${name}?input=${encodeURIComponent(JSON.stringify(input))}`,
    headers,
  });
  const change = (name: string, input: object): Call => ({
    ...{ path: `/portal/trpc/${name}`, method: 'POST', body: JSON.stringify(input) },
    headers: { ...headers, 'content-type': 'application/json', 'x-csrf-token': csrf },
  });
  const pixels = { width: 512, height: 512, data: new Uint8Array(512 * 512 * 4).fill(120) };
  const image = (await encodeJpeg(pixels)).toString('base64');
  const redirectUris = Array.from(
    { length: mostRedirectUris },
    (_, n) => `https://shop.example/${n}/${'x'.repeat(2_000)}`,
  );
  const test = change('webhooks.test', { keyId });
  return [
    ...[page('wallet?mode=test'), test, page('wallet/statement.csv?mode=test'), page('deliveries')],
    ...[
      query('wallets.signedStatement', { partnerId }),
      test,
      page(`deliveries?eventId=${'x'.repeat(12_000)}`),
    ],
    ...[query('wallets.statement', { partnerId, limit: 1_000 }), test, page('requests'), page('sessions')],
    ...[
      change('deliveries.resend', { deliveryIds: ids }),
      change('bulk.start', {
        action: 'resend',
        filter: { keyId, since: new Date(0).toISOString() },
        dryRun: true,
      }),
      change('partners.setLogo', { partnerId, image }),
    ],
    ...[change('clients.update', { clientId, redirectUris }), test, page(''), page('wallet?mode=test')],
    ...[query('webhooks.verify', { keyId, body: 'x'.repeat(9_000), signature: 'sha256=00' }), page('log')],
  ];
}

/** A partner that sends the largest inputs of all endpoints and procedures, at its own limits. */
export async function createAttacker(service: Service) {
  const { server, addresses } = service;
  const partner = await createPartner(server, { name: 'Attacker', funds: 10_000_000 });
  const { partnerId, keyId, clientId, clientSecret, apiKey } = partner;
  const receiver = await startHangingReceiver();
  await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
  await addFullPages(server.db, `${partnerId}:test`, { pages: fullPages, at: Date.now() });
  const ids = await insertFailedDeliveries(service, keyId);

  const json = { 'content-type': 'application/json' };
  const bearer = { ...json, authorization: `Bearer ${apiKey}`, 'idempotency-key': 'x'.repeat(100) };
  const shop = await createShop(server, { name: 'Shop of the attacker' });
  const signed = (body: string) => ({ body, headers: { ...json, ...sign(shop, body, Date.now()) } });
  const wide = Object.fromEntries(Array.from({ length: 1_900 }, (_, n) => [`m${n}`, 'x'.repeat(20)]));
  const deep = `${'{"a":['.repeat(15)}${'1,'.repeat(900)}1${']}'.repeat(15)}`;
  const credentials = { client_id: clientId, client_secret: clientSecret, grant_type: 'authorization_code' };
  const token = (fields: object): Call => ({
    ...{ path: '/api/oauth/token', method: 'POST', headers: json },
    body: JSON.stringify({ ...credentials, ...fields }),
  });
  // With the rest of a browser's request just under the largest head of a request, 16 KB.
  const head = { cookie: 'a=b;'.repeat(2_500), accept: 'text/html' };
  const start = new URLSearchParams({
    ...{ client_id: clientId, redirect_uri: redirectUri, response_type: 'code', state: 'x'.repeat(4_000) },
    ...{ code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' },
  });
  const lanes: Lane[] = [
    {
      perMinute: 30,
      calls: [token(wide), token({ code: 'x'.repeat(60_000) }), token({ code_verifier: 'x' })],
    },
    {
      perMinute: 60,
      calls: [
        { path: '/api/checkbox/resolve', method: 'POST', headers: bearer, body: JSON.stringify(wide) },
        { path: '/api/checkbox/resolve', method: 'POST', headers: bearer, body: deep },
        {
          path: '/api/integrations/storefront/verify/exchange',
          method: 'POST',
          ...signed(JSON.stringify(wide)),
        },
        { path: '/api/verify/hvf-session/ses_1', headers: bearer },
      ],
    },
    {
      perMinute: 300,
      calls: [
        { path: `/verify/start?${start}`, headers: head },
        { path: '/docs/', headers: head },
        { path: '/portal/sign-in', headers: head },
      ],
    },
  ];
  for (const role of ['owner', 'developer'] as const)
    lanes.push({
      perMinute: 240,
      calls: await memberCalls(await signedIn(server, partnerId, role), { partnerId, keyId, clientId }, ids),
    });

  const answers = new Map<string, Map<number, number>>();
  function count(name: string, status: number): void {
    const statuses = answers.get(name) ?? new Map<number, number>();
    answers.set(name, statuses.set(status, (statuses.get(status) ?? 0) + 1));
  }
  let longest = 0;
  let inFlight = 0;
  async function send(
    { name, path, method = 'GET', headers = {}, body = '' }: Call,
    n: number,
  ): Promise<void> {
    const address = addresses[n % addresses.length] ?? '';
    inFlight += 1;
    const sent = performance.now();
    const origin = method === 'POST' ? { origin: address } : {};
    const status = await request(`${address}${path}`, {
      method,
      headers: { ...headers, ...origin },
      body: method === 'POST' ? body : null,
    }).then(
      async (answer) => {
        await answer.body.dump({ limit: 64_000_000 });
        return answer.statusCode;
      },
      () => 0,
    );
    inFlight -= 1;
    count(name ?? path.replace(/\?.*/, ''), status);
    longest = Math.max(longest, performance.now() - sent);
  }

  /** Sends the calls of a lane until `isDone`. The limits of the service let no more through. */
  async function run({ perMinute, calls }: Lane, isDone: () => boolean): Promise<void> {
    for (let n = 0; !isDone(); n += 1) {
      const call = calls[n % calls.length];
      if (call && inFlight < mostInFlight) void send(call, Math.floor(n / calls.length) + n);
      await sleep(60_000 / perMinute);
    }
  }

  return {
    /** Sends all calls until the work has ended. */
    async during<Result>(work: () => Promise<Result>): Promise<Result> {
      let isDone = false;
      const sending = lanes.map((lane) => run(lane, () => isDone));
      try {
        return await work();
      } finally {
        isDone = true;
        await Promise.all(sending);
      }
    },
    /** The number of answers of each call by status; 0 stands for none. */
    answers: () => [...answers].map(([name, statuses]) => ({ name, statuses: Object.fromEntries(statuses) })),
    end: () => receiver.close(),
  };
}
