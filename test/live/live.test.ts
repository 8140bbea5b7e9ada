import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPost } from '../../server/webhooks/egress/post.ts';
import { call, fields, shopDomain, sign } from '../api/storefront/shop.ts';
import { isSigned, read } from '../contract/hooks.ts';
import { startWithBank, verifyAtBank } from '../harness/openid.ts';
import {
  type Code,
  createPartner,
  exchangeCode,
  redirectUri as testRedirectUri,
} from '../harness/partner.ts';
import { startReceiver } from '../harness/receiver.ts';
import { within } from '../harness/time-limits.ts';
import { certificate, certificateKey } from '../webhooks/certificate.ts';

const redirectUri = 'https://shop.example/callback';
/** Returns all requests to the partner's live endpoint. */
const received = () => receiver.received.map(read);
let receiver: Awaited<ReturnType<typeof startReceiver>>;

/** Sends webhooks as in production, except that the name of the partner's host resolves to this machine. */
const network = {
  route: { resolve: async () => ['127.0.0.1'], allowed: () => true },
  rules: { localhostAllowed: false, ownPorts: () => [] },
  budget: 5_000,
  ca: certificate,
};

let server: Awaited<ReturnType<typeof startWithBank>>;
let partner: Awaited<ReturnType<typeof createLivePartner>>;

/** Creates a partner with a test key, client and wallet, and with the same records in live mode. */
async function createLivePartner(webhookUrl: string) {
  const { admin } = server;
  const test = await createPartner(server, { funds: 20_000, client: { sources: ['bank'] } });
  const { partnerId } = test;
  const key = await admin.keys.create.mutate({ partnerId, mode: 'live' });
  const common = { partnerId, keyId: key.id, redirectUris: [redirectUri], sources: ['bank'] };
  const client = await admin.clients.create.mutate({
    ...common,
    name: 'Box office',
    claims: ['age_18_plus', 'country'],
    kind: 'oauth',
  });
  const shop = await admin.clients.create.mutate({
    ...common,
    name: 'Shop',
    claims: ['age_18_plus', 'country'],
    kind: 'storefront',
  });
  const integration = await admin.integrations.create.mutate({
    partnerId,
    clientId: shop.id,
    shops: [shopDomain],
  });
  await admin.wallets.fund.mutate({ partnerId, mode: 'live', amount: 5_000, reference: 'opening' });
  const { signingSecret } = await admin.webhooks.set.mutate({ keyId: key.id, url: webhookUrl });
  return { test, partnerId, key, client, shop, integration, signingSecret };
}

const balances = async () => {
  const of = async (mode: 'test' | 'live') =>
    (await server.admin.wallets.show.query({ partnerId: partner.partnerId, mode })).balance;
  return { test: await of('test'), live: await of('live') };
};

const verify = () => verifyAtBank(server, { clientId: partner.client.id, redirectUri });

const exchange = (code: Code) => {
  const { id: clientId, clientSecret } = partner.client;
  return exchangeCode(server, { clientId, clientSecret, redirectUri }, code);
};

async function userinfo(token: unknown) {
  const headers = { authorization: `Bearer ${String(token)}` };
  const answer = await fetch(`${server.baseUrl}/api/oauth/userinfo`, { headers });
  return (await answer.json()) as { sub: string; claims: Record<string, unknown> };
}

async function session(sessionId: string, apiKey: string) {
  const headers = { authorization: `Bearer ${apiKey}` };
  const answer = await fetch(`${server.baseUrl}/api/verify/hvf-session/${sessionId}`, { headers });
  return { status: answer.status, body: (await answer.json()) as { session?: Record<string, unknown> } };
}

/** Waits for the event of this type that names a session or a user, and returns its delivery. */
async function event(type: string, about: string) {
  const find = () =>
    received().find(({ raw, body }) => body['event'] === type && raw.toString().includes(about));
  await expect.poll(find, { timeout: within(15_000) }).toBeDefined();
  const found = find();
  if (!found) throw new Error('it was there');
  return found;
}

beforeAll(async () => {
  receiver = await startReceiver(undefined, { cert: certificate, key: certificateKey });
  server = await startWithBank({
    env: { SVC_LOCALHOST_WEBHOOKS: 'off' },
    replacements: {
      foundation: () => ({ webhooks: { wrap: (parts) => ({ ...parts, post: createPost(network) }) } }),
    },
  });
  partner = await createLivePartner(`https://partner.example:${receiver.port}/hooks`);
});
afterAll(async () => {
  await server.stop();
  receiver.close();
});

describe('live mode', () => {
  it('verifies a user, charges the live wallet, and sends events to the live endpoint', async () => {
    const verified = await verify();
    const { status, body } = await session(verified.sessionId, partner.key.apiKey);
    expect([status, body.session]).toMatchObject([200, { status: 'complete', isTestMode: false }]);
    // The partner's test key did not create the session.
    expect((await session(verified.sessionId, partner.test.apiKey)).status).toBe(403);

    expect(await balances()).toEqual({ test: 20_000, live: 5_000 });
    const answer = await exchange(verified);
    expect(answer.status).toBe(200);
    expect(await balances()).toEqual({ test: 20_000, live: 4_950 });
    const { access_token } = (await answer.json()) as { access_token: string };
    const { sub, claims } = await userinfo(access_token);
    expect(claims).toEqual({ age_18_plus: true, country: 'FR' });

    const completed = await event('verification.session.completed', verified.sessionId);
    expect(completed.body).toMatchObject({ user_id: sub, partner_id: partner.partnerId });
    const created = await event('enrollment.created', sub);
    for (const { headers, raw } of [completed, created])
      expect(isSigned({ headers: headers as never, raw }, partner.signingSecret)).toBe(true);
    const deliveries = await server.admin.deliveries.list.query({ keyId: partner.key.id });
    expect(deliveries.map(({ mode }) => mode)).toEqual(['live', 'live']);

    const again = await verify();
    expect((await exchange(again)).status).toBe(200);
    expect((await event('vae.resolved', sub)).body).toMatchObject({ claims });
    expect(await balances()).toEqual({ test: 20_000, live: 4_900 });
  });

  it('charges the live wallet at the storefront and at checkbox', async () => {
    const before = await balances();
    const { integration, shop } = partner;
    const { code } = await verifyAtBank(server, { clientId: shop.id, redirectUri });
    const body = JSON.stringify(fields(code, { redirect_uri: redirectUri }));
    const signer = { integrationId: integration.id, integrationSecret: integration.integrationSecret };
    const answer = await call(server, body, sign(signer, body, Date.now()));
    expect([answer.status, answer.body]).toMatchObject([200, { claims: { age_18_plus: true } }]);
    expect(await balances()).toEqual({ test: before.test, live: before.live - 50 });

    const resolve = (apiKey: string) =>
      fetch(`${server.baseUrl}/api/checkbox/resolve`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${apiKey}`,
          'idempotency-key': randomUUID(),
          'content-type': 'application/json',
        },
        body: JSON.stringify({ enrollment_id: answer.body['enrollment_id'], claims: ['country'] }),
      });
    expect((await resolve(partner.test.apiKey)).status).toBe(404);
    expect((await resolve(partner.key.apiKey)).status).toBe(200);
    expect(await balances()).toEqual({ test: before.test, live: before.live - 100 });
  });

  it('answers an exchange with 402 if the live wallet is empty, even if the test wallet has money', async () => {
    const { partnerId } = partner;
    const verified = await verify();
    const { live, test } = await balances();
    const reason = 'leaves nothing';
    await server.admin.wallets.adjust.mutate({ partnerId, mode: 'live', amount: -live, reason });
    expect((await exchange(verified)).status).toBe(402);
    expect(await balances()).toEqual({ test, live: 0 });
    await server.admin.wallets.fund.mutate({ partnerId, mode: 'live', amount: 5_000, reference: 'second' });
    expect((await exchange(verified)).status).toBe(200);
    expect(await balances()).toEqual({ test, live: 4_950 });
  });

  it('has another subject for the same user than test mode, and a test exchange charges only the test wallet', async () => {
    const { test } = partner;
    const at = { clientId: test.clientId, redirectUri: testRedirectUri };
    const before = await balances();
    const verified = await verifyAtBank(server, at);
    const answer = await exchangeCode(server, test, verified);
    const { access_token } = (await answer.json()) as { access_token: string };
    expect(await balances()).toEqual({ test: before.test - 50, live: before.live });
    expect((await session(verified.sessionId, test.apiKey)).body.session).toMatchObject({ isTestMode: true });
    const live = (await (await exchange(await verify())).json()) as { access_token: string };
    const subs = [(await userinfo(access_token)).sub, (await userinfo(live.access_token)).sub];
    expect(new Set(subs).size).toBe(2);
    const users = await Promise.all(
      subs.map((user) => server.admin.users.show.query({ user, reason: 'a test' })),
    );
    expect(users.map(({ mode }) => mode)).toEqual(['test', 'live']);
  });

  it('refuses sandbox and test sources, redirect and webhook URLs with http (also localhost), and a start without a source (400)', async () => {
    const { admin } = server;
    const { partnerId, key } = partner;
    const live = {
      partnerId,
      keyId: key.id,
      name: 'Other',
      kind: 'oauth' as const,
      redirectUris: [redirectUri],
      claims: ['country' as const],
    };
    for (const source of ['sandbox', 'test-bank'])
      await expect(admin.clients.create.mutate({ ...live, sources: [source] })).rejects.toThrow(
        `No verification source ${source} for live clients; there is bank`,
      );
    for (const uri of ['http://localhost:9999/callback', 'http://shop.example/callback'])
      await expect(admin.clients.create.mutate({ ...live, redirectUris: [uri] })).rejects.toThrow(/https/);
    for (const url of ['http://localhost:3000/hooks', 'http://shop.example/hooks'])
      await expect(admin.webhooks.set.mutate({ keyId: key.id, url })).rejects.toThrow(/https/);

    // Without a configured source, a test client uses the sandbox, and a live client has no source.
    const { id: client_id } = await admin.clients.create.mutate(live);
    const query = new URLSearchParams({
      client_id,
      redirect_uri: redirectUri,
      state: 's'.repeat(16),
      scope: 'country',
      code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
      code_challenge_method: 'S256',
    });
    const start = await fetch(`${server.baseUrl}/verify/start?${query}`, { redirect: 'manual' });
    expect(start.status).toBe(400);
    expect(await start.json()).toMatchObject({ error: expect.stringContaining('no verification source') });
  });
});
