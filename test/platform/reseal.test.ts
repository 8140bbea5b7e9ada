import { createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeProtectedHeader } from 'jose';
import { expect, it, onTestFinished } from 'vitest';
import { sealedFields } from '../../server/operations/schema/collections.ts';
import { createShop, fields, sign } from '../api/storefront/shop.ts';
import { commandLine } from '../cli/svcadmin.ts';
import { databaseOfServer } from '../harness/database.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner, exchangeCode, verifyUser } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';
import { startBalancer } from '../proofs/upgrade/balancer.ts';

const [old, fresh] = [7, 9].map((byte) => Buffer.alloc(32, byte).toString('base64'));
const onlyOld = `${old}`;
const onlyFresh = `${fresh}`;

/** A server of the installation, with the same ports after each restart. Starts with these master keys. */
async function createMember(MONGODB_URI: string, baseUrl: string, masterKeys: string) {
  const [port, adminPort] = [await freePort(), await freePort()];
  const start = (SVC_MASTER_KEY: string) =>
    startTestServer({
      env: {
        ...{ MONGODB_URI, SVC_MASTER_KEY, SVC_BASE_URL: baseUrl, SVC_DRAIN_DELAY: '600ms' },
        ...{ SVC_PORT: String(port), SVC_ADMIN_PORT: String(adminPort) },
      },
    });
  let server = await start(masterKeys);
  onTestFinished(() => server.stop());
  return {
    port,
    baseUrl: `http://127.0.0.1:${port}`,
    adminUrl: server.adminUrl,
    admin: server.admin,
    async restart(newMasterKeys: string) {
      await server.stop();
      server = await start(newMasterKeys);
    },
  };
}
type Member = Awaited<ReturnType<typeof createMember>>;

const userinfo = async ({ baseUrl }: Member, token = '') =>
  (await fetch(`${baseUrl}/api/oauth/userinfo`, { headers: { authorization: `Bearer ${token}` } })).status;

/** Paths of all sealed strings in the database: a compact JWE with `alg: dir`. */
async function sealedPaths({ db }: Pick<TestServer, 'db'>): Promise<string[]> {
  const found = new Set<string>();
  const look = (value: unknown, path: string): void => {
    if (typeof value === 'string' && /^eyJ[\w-]+\.\./.test(value)) found.add(path);
    else if (typeof value === 'object' && value !== null)
      for (const [name, inner] of Object.entries(value)) look(inner, `${path}.${name}`);
  };
  for (const { collectionName } of await db.collections())
    for (const document of await db.collection(collectionName).find().toArray())
      look(document, collectionName);
  return [...found].toSorted();
}

it('the master key can be replaced during traffic: no exchange fails, and all secrets open without the old key', {
  timeout: within(180_000),
}, async () => {
  const database = await databaseOfServer();
  onTestFinished(database.drop);
  let up: Member[] = [];
  const balancer = await startBalancer(() => up.map(({ port }) => port));
  onTestFinished(balancer.close);
  const site = { baseUrl: `http://localhost:${balancer.port}` };
  const first = await createMember(database.uri, site.baseUrl, onlyOld);
  const second = await createMember(database.uri, site.baseUrl, onlyOld);
  up = [first, second];
  const partner = await createPartner(first, { client: { tokenRequestsPerMinute: 100_000 } });
  const { partnerId, keyId } = partner;
  await first.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 1_000_000, perHour: 1_000_000 });
  await first.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 1_000_000, reference: 'more' });
  const receiver = await createReceiver();
  const { signingSecret } = await first.admin.webhooks.set.mutate({ keyId, url: receiver.url });
  const shop = await createShop(first);
  await first.admin.webhooks.prepareSecret.mutate({ keyId });
  const { integrationId } = await createShop(first);
  await first.admin.integrations.rotateSecret.mutate({ integrationId, keepOldSeconds: 86_400 });
  const { jws } = await first.admin.wallets.signedStatement.query({ partnerId, mode: 'test' });

  /** Verifies a user, and exchanges the code at the address `at`. */
  async function exchange(at: { baseUrl: string }) {
    const answer = await exchangeCode(at, partner, await verifyUser(site, partner));
    const { access_token: token = '' } = (await answer.json()) as { access_token?: string };
    return { status: answer.status, token };
  }
  const early = await exchange(first);
  expect(early.status).toBe(200);
  const sealed = await sealedPaths(database);
  expect(sealed).toEqual(sealedFields.map(({ collection, field }) => `${collection}.${field}`).toSorted());

  let running = true;
  const statuses: unknown[] = [];
  const traffic = (async () => {
    while (running) {
      statuses.push(await exchange(site).then(({ status }) => status, String));
      await sleep(50);
    }
  })();
  /** Replaces the servers one after another, as in a roll-out. */
  async function rollOut(masterKeys: string) {
    for (const member of [first, second]) {
      up = [first, second].filter((each) => each !== member);
      await member.restart(masterKeys);
      up = [first, second];
    }
  }
  await rollOut(`${onlyOld},${onlyFresh}`);
  await rollOut(`${onlyFresh},${onlyOld}`);
  const svcadmin = await commandLine(first.adminUrl, adminToken);
  await first.admin.keyring.rotate.mutate({ use: 'signing', lead: 60 });
  const dry = await svcadmin.run(['keyring', 'reseal', '--dry-run']);
  expect(dry.stdout).toMatch(/^Would do: (9|10) secrets are sealed under the master key/);
  expect(await svcadmin.json('keyring', 'reseal', '--yes')).toMatchObject({ left: 0 });
  expect(await svcadmin.json('keyring', 'reseal', '--yes')).toMatchObject({ resealed: 0, left: 0 });
  await rollOut(onlyFresh);
  running = false;
  await traffic;
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect(statuses.length).toBeGreaterThan(5);

  expect(await userinfo(second, early.token)).toBe(200);
  const { token } = await exchange(second);
  expect(await userinfo(first, token)).toBe(200);
  const seen = receiver.received.length;
  await exchange(first);
  await expect.poll(() => receiver.received.length, { timeout: within(20_000) }).toBeGreaterThan(seen);
  for (const { body, headers } of receiver.received) {
    const expected = createHmac('sha256', signingSecret).update(body).digest('hex');
    expect(headers['x-svc-signature']).toBe(`sha256=${expected}`);
  }
  const body = JSON.stringify(fields((await verifyUser(site, shop, 'adult', 'age_18_plus country')).code));
  const answer = await fetch(`${first.baseUrl}/api/integrations/storefront/verify/exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...sign(shop, body, Date.now()) },
    body,
  });
  expect(answer.status).toBe(200);

  const directory = temporaryFolder('reseal');
  writeFileSync(join(directory, 'june.jws'), jws);
  const verify = ['wallets', 'verify', join(directory, 'june.jws'), '--issuer', site.baseUrl];
  expect((await svcadmin.run(verify)).code).toBe(0);
  expect(decodeProtectedHeader(jws).kid).toBe(decodeProtectedHeader(early.token).kid);
  expect((await svcadmin.run(['wallets', 'audit'])).code).toBe(0);
});
