import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { createPartner } from '../../harness/partner.ts';
import { encodeJpeg } from '../../partners/jpeg-files.ts';
import { type SignedInMember, signedIn } from '../../portal/signed-in.ts';
import { addFullPages } from '../../wallets/long-wallet.ts';
import type { Service } from './service.ts';

interface Call {
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
  const texts = Array.from({ length: 1_990 }, () => 'x'.repeat(180));
  const test = change('webhooks.test', { keyId });
  return [
    ...[page('wallet?mode=test'), test, page('wallet/statement.csv?mode=test'), page('deliveries')],
    ...[
      query('wallets.signedStatement', { partnerId }),
      test,
      page(`deliveries?eventId=${'x'.repeat(12_000)}`),
    ],
    ...[query('wallets.statement', { partnerId, limit: 1_000 }), test, page('requests'), page('sessions')],
    ...[change('deliveries.resend', { deliveryIds: ids }), change('partners.setLogo', { partnerId, image })],
    ...[change('clients.update', { clientId, claims: texts }), test, page(''), page('wallet?mode=test')],
    ...[change('webhooks.verify', { keyId, body: 'x"'.repeat(32_000), signature: 'sha256=00' }), page('log')],
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
  const wide = Object.fromEntries(Array.from({ length: 1_900 }, (_, n) => [`m${n}`, 'x'.repeat(20)]));
  const deep = `${'{"a":['.repeat(15)}${'1,'.repeat(900)}1${']}'.repeat(15)}`;
  const credentials = { client_id: clientId, client_secret: clientSecret, grant_type: 'authorization_code' };
  const token = (fields: object): Call => ({
    ...{ path: '/api/oauth/token', method: 'POST', headers: json },
    body: JSON.stringify({ ...credentials, ...fields }),
  });
  const head = { cookie: 'a=b;'.repeat(3_700), accept: 'text/html' };
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
        { path: '/api/verify/hvf-session/ses_1', headers: bearer },
      ],
    },
    {
      perMinute: 300,
      calls: [
        { path: `/verify/start?client_id=${clientId}&state=${'x'.repeat(4_000)}`, headers: head },
        { path: '/docs', headers: head },
        { path: '/portal/sign-in', headers: head },
      ],
    },
  ];
  for (const role of ['owner', 'developer'] as const)
    lanes.push({
      perMinute: 240,
      calls: await memberCalls(await signedIn(server, partnerId, role), { partnerId, keyId, clientId }, ids),
    });

  const statuses = new Map<number, number>();
  let longest = 0;
  let inFlight = 0;
  async function send({ path, method = 'GET', headers = {}, body = '' }: Call, n: number): Promise<void> {
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
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
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
    /** The number of answers by status; 0 stands for none. */
    statuses: (): [status: number, count: number][] => [...statuses].sort(([one], [two]) => one - two),
    end: () => receiver.close(),
  };
}
