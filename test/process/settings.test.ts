import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, exchangeCode, post } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { manualClock, startTestServer, type TestServer } from '../harness/server.ts';

const event = 'verification.session.failed';
const masterKey = Buffer.alloc(32, 9).toString('base64');

/** A server that its test stops. */
async function start(settings: Parameters<typeof startTestServer>[0] = {}): Promise<TestServer> {
  const server = await startTestServer({
    ...settings,
    env: { SVC_MASTER_KEY: masterKey, ...settings.env },
  });
  onTestFinished(() => server.stop());
  return server;
}

describe('a webhook to localhost', () => {
  const roles = { api: 'api,admin', admin: 'admin' };
  let ports: Record<'SVC_PORT' | 'SVC_HEALTH_PORT', number>;
  let servers: Record<keyof typeof roles, TestServer>;
  let keyId: string;
  beforeAll(async () => {
    ports = { SVC_PORT: await freePort(), SVC_HEALTH_PORT: await freePort() };
    const api = await startTestServer({ env: { SVC_MASTER_KEY: masterKey, SVC_ROLES: roles.api } });
    const given = Object.fromEntries(Object.entries(ports).map(([name, port]) => [name, String(port)]));
    const env = { SVC_MASTER_KEY: masterKey, SVC_ROLES: roles.admin, MONGODB_URI: api.uri, ...given };
    servers = { api, admin: await startTestServer({ env }) };
    ({ keyId } = await createPartner(api, { funds: 0 }));
  });
  afterAll(async () => {
    await servers.admin.stop();
    await servers.api.stop();
  });

  const setTo = ({ admin }: TestServer, port: number) =>
    admin.webhooks.set.mutate({ keyId, url: `http://localhost:${port}/hook` });

  const portOf: [string, keyof typeof roles, () => number | Promise<number>][] = [
    ['the public listener', 'api', () => servers.api.config.public.port],
    ['the admin listener', 'admin', () => servers.admin.config.admin.port],
    ['the health listener', 'admin', () => ports.SVC_HEALTH_PORT],
    ['a public listener which this process does not open', 'admin', () => ports.SVC_PORT],
    ['the database', 'admin', () => Number(new URL(servers.admin.uri).port)],
    ['the private listener', 'api', () => privatePort()],
  ];
  /** The port for hand-overs from other processes. */
  async function privatePort(): Promise<number> {
    const listener = await servers.api.db.collection('processes').findOne({ address: { $exists: true } });
    return Number(String(listener?.['address']).split(':').at(-1));
  }

  it.each(portOf)('cannot be set if its port is that of %s', async (_, name, find) => {
    const port = await find();
    await expect(setTo(servers[name], port)).rejects.toThrow(
      `port ${port} of localhost belongs to this server`,
    );
  });

  it('is not sent by a worker if it goes to SVC_ADMIN_PORT, although the worker itself does not listen there', async () => {
    const port = await freePort();
    await setTo(servers.api, port);
    const { id } = await servers.api.admin.webhooks.trigger.mutate({ keyId, event });
    await start({
      env: { SVC_ROLES: 'worker', SVC_ADMIN_PORT: String(port), MONGODB_URI: servers.api.uri },
    });
    const attempts = async () => (await servers.api.admin.deliveries.show.query({ deliveryId: id })).attempts;
    await expect.poll(attempts).toMatchObject([{ error: 'blocked_address' }]);
  });

  it('is accepted on every other port in test mode', async () => {
    await expect(setTo(servers.admin, await freePort())).resolves.toMatchObject({ keyId });
  });
});

describe('SVC_LOCALHOST_WEBHOOKS=false', () => {
  it('stops webhooks to localhost: a new URL is an error, and deliveries to an existing URL are skipped', async () => {
    const allowed = await start({ env: { SVC_ROLES: 'admin' } });
    const receiver = await createReceiver((_count, _request, response) => response.end());
    const { keyId } = await createPartner(allowed, { funds: 0 });
    await allowed.admin.webhooks.set.mutate({ keyId, url: receiver.url });

    const strict = await start({ env: { MONGODB_URI: allowed.uri, SVC_LOCALHOST_WEBHOOKS: 'false' } });
    await expect(strict.admin.webhooks.set.mutate({ keyId, url: receiver.url })).rejects.toThrow(
      'http://localhost is not allowed on this server (SVC_LOCALHOST_WEBHOOKS)',
    );
    const { id } = await strict.admin.webhooks.trigger.mutate({ keyId, event });
    await expect
      .poll(() => strict.admin.deliveries.show.query({ deliveryId: id }))
      .toMatchObject({ status: 'skipped', skipped: 'localhost_not_allowed', attempts: [] });
    expect(receiver.received).toEqual([]);
  });
});

describe('SVC_PRICE_CENTS', () => {
  it('is the price of an exchange for a partner without a price of its own', async () => {
    const server = await start({ env: { SVC_PRICE_CENTS: '73' } });
    const partner = await createPartner(server, { funds: 10_000 });
    const answer = await exchangeCode(server, partner, await completeSession(server, partner));
    expect(answer.status).toBe(200);
    const { balance } = await server.admin.wallets.show.query({
      partnerId: partner.partnerId,
      mode: 'test',
    });
    expect(balance).toBe(10_000 - 73);
  });
});

describe('a start of the service', () => {
  it('publishes the events of ledger pages that are still marked as unpublished', async () => {
    const clock = manualClock();
    const before = await start({ clock, replacements: { sweepsByHand: true } });
    await createPartner(before);
    const ledger = before.db.collection('ledger');
    const unpublished = () => ledger.countDocuments({ unpublished: true });
    await expect.poll(unpublished).toBe(0);
    const marked = await ledger.updateMany({}, { $set: { unpublished: true } });
    expect(marked.modifiedCount).toBeGreaterThan(0);
    clock.advance(60_000);
    await start({ clock, env: { MONGODB_URI: before.uri } });
    await expect.poll(unpublished).toBe(0);
  });
});

describe('a stop of the service', () => {
  it('writes the request log, and waits for the running delivery attempt', async () => {
    const observer = await start({ env: { SVC_ROLES: 'admin' } });
    const stopping = await startTestServer({
      env: { SVC_MASTER_KEY: masterKey, MONGODB_URI: observer.uri },
      replacements: { pace: { requestsEvery: 3_600_000 } },
    });
    let stopped: Promise<void> | undefined;
    // Also after a failure, because the database then serves other tests.
    onTestFinished(() => stopped ?? stopping.stop());
    const held: ServerResponse[] = [];
    const receiver = await createReceiver((_count, _request, response) => void held.push(response));
    const { keyId, clientId } = await createPartner(observer, { funds: 0 });
    await observer.admin.webhooks.set.mutate({ keyId, url: receiver.url });
    const { id } = await observer.admin.webhooks.trigger.mutate({ keyId, event });
    await expect.poll(() => held.length).toBe(1);
    const refused = await post(`${stopping.baseUrl}/api/oauth/token`, {
      grant_type: 'password',
      client_id: clientId,
    });
    const requestId = refused.headers.get('x-request-id');

    stopped = stopping.stop();
    // A stop that does not wait for the delivery would end before the answer.
    await sleep(1_000);
    held[0]?.end();
    await stopped;

    const { status } = await observer.admin.deliveries.show.query({ deliveryId: id });
    expect(status).toBe('delivered');
    expect(await observer.db.collection('requestLog').countDocuments({ _id: requestId as never })).toBe(1);
  });
});
