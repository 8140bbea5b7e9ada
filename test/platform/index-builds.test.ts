import { expect, it, onTestFinished } from 'vitest';
import { indexes } from '../../server/operations/schema/collections.ts';
import { completeSession } from '../harness/completed-session.ts';
import { databasePort, type FreshDatabase, freshDatabase, uriThrough } from '../harness/database.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, exchangeCode, post } from '../harness/partner.ts';
import { adminToken, startTestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { startProxy } from '../proofs/faults/proxy.ts';
import { startRefusingProxy } from './refusing-proxy.ts';

/** Few indexes, because each takes milliseconds: those of the ledger and of the collections beside it. */
const someIndexes = indexes.filter(({ collection }) => ['sessions', 'ledger', 'events'].includes(collection));

/** Starts a server with a new database behind a proxy. Its address is known before it has started. */
async function startOn(database: FreshDatabase, proxy: { port: number }) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const env = {
    MONGODB_URI: uriThrough(proxy, database),
    SVC_PORT: String(port),
    SVC_ADMIN_PORT: String(adminPort),
  };
  let started = false;
  const starting = startTestServer({ env, replacements: { indexes: someIndexes } });
  void starting.then(() => {
    started = true;
  });
  onTestFinished(async () => (await starting).stop());
  const baseUrl = `http://localhost:${port}`;
  return {
    baseUrl,
    adminUrl: `http://localhost:${adminPort}`,
    starting,
    hasStarted: () => started,
    async ready() {
      const response = await fetch(`${baseUrl}/readyz`).catch(() => undefined);
      return response && { status: response.status, body: (await response.json()) as unknown };
    },
  };
}

const notReady = (reason: string) => ({ status: 503, body: { ready: false, reasons: [reason] } });

/** Returns the names of the collections that have documents. */
async function written({ db }: FreshDatabase): Promise<string[]> {
  const collections = await db.listCollections({}, { nameOnly: true }).toArray();
  const counted = collections.map(async ({ name }) =>
    (await db.collection(name).countDocuments()) > 0 ? [name] : [],
  );
  return (await Promise.all(counted)).flat().toSorted();
}

it('a process serves only /healthz and /metrics while its indexes are built, writes only to the collections keys and meta, and is listed as ready after it', async () => {
  const database = await freshDatabase();
  const proxy = await startProxy(databasePort());
  onTestFinished(() => proxy.close());
  const isLedger = ({ name, collection }: { name: string; collection: string }) =>
    name === 'createIndexes' && collection === 'ledger';
  const build = proxy.arm([{ matches: isLedger, action: { do: 'pause' } }], 1);
  const server = await startOn(database, proxy);
  await build.met;

  await expect
    .poll(server.ready, { timeout: within(20_000) })
    .toEqual(notReady('the indexes are being made'));
  for (const base of [server.baseUrl, server.adminUrl])
    expect((await fetch(`${base}/healthz`)).status).toBe(200);
  const refused = await post(`${server.baseUrl}/api/oauth/token`, { grant_type: 'authorization_code' });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
  expect(await refused.json()).toMatchObject({ error: 'service_unavailable' });
  expect((await fetch(`${server.adminUrl}/ops`)).status).toBe(503);
  const page = await fetch(`${server.baseUrl}/verify/session/ses_unknown`, {
    headers: { accept: 'text/html', cookie: 'svc_language=de' },
  });
  expect(page.status).toBe(503);
  expect(await page.text()).toContain('<html lang="de"');
  const headers = { authorization: `Bearer ${adminToken}` };
  const metrics = await (await fetch(`${server.adminUrl}/metrics`, { headers })).text();
  expect(metrics).toMatch(/^svc_ready\{reason="starting"\} 0$/m);
  expect(await written(database)).toEqual(['keys', 'meta']);
  expect(server.hasStarted()).toBe(false);

  await build.release();
  const running = await server.starting;
  const listed = () => database.db.collection('processes').findOne({ pid: process.pid });
  await expect
    .poll(async () => (await listed())?.['condition'], { timeout: within(5_000) })
    .toMatchObject({ reasons: [] });
  expect(await server.ready()).toMatchObject({ status: 200 });
  const partner = await createPartner(running);
  expect((await exchangeCode(running, partner, await completeSession(running, partner))).status).toBe(200);
});

it('an index that the database refused is built later; until then /readyz answers 503 with the reason', async () => {
  const database = await freshDatabase();
  const proxy = await startRefusingProxy(databasePort());
  onTestFinished(() => proxy.stop());
  proxy.refuse({
    ...{ code: 13, codeName: 'Unauthorized', by: 'command' },
    on: (command) => command['createIndexes'] !== undefined,
  });
  const server = await startOn(database, proxy);
  await expect
    .poll(server.ready, { timeout: within(20_000) })
    .toEqual(notReady('the indexes are not made yet: Unauthorized (13)'));
  expect((await fetch(`${server.baseUrl}/healthz`)).status).toBe(200);
  expect(await written(database)).toEqual(['keys', 'meta']);
  proxy.refuse();
  await expect.poll(server.ready, { timeout: within(20_000) }).toMatchObject({ status: 200 });
});
