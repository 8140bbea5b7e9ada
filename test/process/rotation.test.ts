import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { call, createShop, fields, sign } from '../api/storefront/shop.ts';
import { isSigned } from '../contract/hooks.ts';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { manualClock, refusal, startTestServer, type TestServer } from '../harness/server.ts';

const minute = 60_000;
const clock = manualClock();
const pace = { usesEvery: 10 };
/** Two processes of one installation. Secrets are rotated at `other`, and used at `server`. */
let server: TestServer;
let other: TestServer;
beforeAll(async () => {
  server = await startTestServer({ clock, replacements: { pace } });
  other = await startTestServer({ clock, env: { MONGODB_URI: server.uri, SVC_ROLES: 'admin' } });
});
afterAll(async () => {
  await other.stop();
  await server.stop();
});

async function query(apiKey: string): Promise<number> {
  const headers = { authorization: `Bearer ${apiKey}` };
  return (await fetch(`${server.baseUrl}/api/verify/hvf-session/ses_none`, { headers })).status;
}

describe('an API key that was rotated with --keep-old', () => {
  it('is accepted with the new secret, and until the end of --keep-old also with the old one', async () => {
    const { keyId, apiKey: first, partnerId } = await createPartner(server, { funds: 0 });
    const rotated = await other.admin.keys.rotate.mutate({ keyId, keepOldSeconds: 60 });
    const expiresAt = new Date(clock.now() + minute).toISOString();
    expect(rotated.oldSecrets).toEqual([{ last4: first.slice(-4), expiresAt, lastUsedAt: null }]);
    clock.advance(minute - 1);
    expect([await query(first), await query(rotated.apiKey)]).toEqual([404, 404]);
    clock.advance(1);
    expect([await query(first), await query(rotated.apiKey)]).toEqual([401, 404]);
    expect((await other.admin.keys.show.query({ keyId })).oldSecrets).toEqual([]);
    const stored = await server.db.collection('apiKeys').findOne({ partnerId });
    expect(JSON.stringify(stored)).not.toContain(first);
  });

  it('refuses a fifth old secret with conflict, and loses all old secrets in a rotation without --keep-old', async () => {
    const { keyId, apiKey } = await createPartner(server, { funds: 0 });
    const rotate = (keepOldSeconds: number) => other.admin.keys.rotate.mutate({ keyId, keepOldSeconds });
    const second = await rotate(60);
    const third = await rotate(3_600);
    expect(third.oldSecrets.map(({ last4 }) => last4)).toEqual([second.last4, apiKey.slice(-4)]);
    clock.advance(minute);
    expect([await query(apiKey), await query(second.apiKey)]).toEqual([401, 404]);
    for (let kept = 2; kept < 5; kept += 1) await rotate(3_600);
    expect(await refusal(rotate(3_600))).toBe('conflict');
    const last = await rotate(0);
    expect(last.oldSecrets).toEqual([]);
    expect([await query(third.apiKey), await query(last.apiKey)]).toEqual([401, 404]);
    const log = await server.admin.auditLog.list.query({ target: keyId });
    const rotations = log.filter(({ action }) => action === 'keys.rotate');
    expect(rotations.map(({ outcome }) => outcome).sort()).toEqual([...Array(6).fill('changed'), 'refused']);
    const after = rotations.filter(({ outcome }) => outcome === 'changed').map((entry) => entry.after);
    expect(after).toContainEqual({ last4: second.last4, keepOldSeconds: 60 });
    expect(after).toContainEqual({ last4: last.last4 });
  });

  it('gets 401 with its old secret as soon as it is revoked', async () => {
    const { keyId, apiKey } = await createPartner(server, { funds: 0 });
    await other.admin.keys.rotate.mutate({ keyId, keepOldSeconds: 3_600 });
    expect(await query(apiKey)).toBe(404);
    await other.admin.keys.revoke.mutate({ keyId });
    expect(await query(apiKey)).toBe(401);
  });

  it('is found by partners.search with the last four characters of its old secret', async () => {
    const { keyId, apiKey, partnerId } = await createPartner(server, { funds: 0 });
    await other.admin.keys.rotate.mutate({ keyId, keepOldSeconds: 60 });
    const found = await other.admin.partners.search.query({ text: apiKey.slice(-4) });
    expect(found.find(({ id }) => id === partnerId)?.found).toContain(
      `old secret of API key ${keyId} …${apiKey.slice(-4)}`,
    );
  });
});

describe('an integration whose secret is rotated with --keep-old', () => {
  it('is accepted with the new secret, and until the end of --keep-old also with the old one', async () => {
    const shop = await createShop(server);
    const { integrationId, integrationSecret: first } = shop;
    const body = JSON.stringify(fields('svc_code_unknown'));
    const exchange = async (integrationSecret: string) =>
      (await call(server, body, sign({ ...shop, integrationSecret }, body, clock.now()))).status;
    const rotate = (keepOldSeconds: number) =>
      other.admin.integrations.rotateSecret.mutate({ integrationId, keepOldSeconds });
    const rotated = await rotate(60);
    expect(rotated.oldSecret).toMatchObject({ last4: first.slice(-4), lastUsedAt: null });
    clock.advance(minute - 1);
    expect([await exchange(first), await exchange(rotated.integrationSecret)]).toEqual([404, 404]);
    expect(await refusal(rotate(60))).toBe('conflict');
    clock.advance(1);
    expect([await exchange(first), await exchange(rotated.integrationSecret)]).toEqual([401, 404]);
    const again = await rotate(60);
    const last = await rotate(0);
    expect(last.oldSecret).toBeNull();
    expect([await exchange(again.integrationSecret), await exchange(last.integrationSecret)]).toEqual([
      401, 404,
    ]);
  });
});

describe('a webhook secret', () => {
  async function listening() {
    const { url, received } = await createReceiver((_count, _request, response) => response.end());
    const partner = await createPartner(server, { funds: 0 });
    const { signingSecret } = await other.admin.webhooks.set.mutate({ keyId: partner.keyId, url });
    const sent = async () => {
      await server.admin.webhooks.test.mutate({ keyId: partner.keyId });
      return received.at(-1) ?? expect.fail('nothing was received');
    };
    return { ...partner, first: signingSecret, sent };
  }

  it('signs no event while it is prepared, and is the only secret that signs after the switch', async () => {
    const { keyId, first, sent } = await listening();
    const prepared = await other.admin.webhooks.prepareSecret.mutate({ keyId });
    const { signingSecret: second } = prepared;
    const last4 = second.slice(-4);
    expect(prepared).toMatchObject({ secretVersion: 1, last4: first.slice(-4), prepared: { last4 } });
    const before = await sent();
    expect([isSigned(before, first), isSigned(before, second)]).toEqual([true, false]);
    const switched = await other.admin.webhooks.switchSecret.mutate({ keyId, last4 });
    expect(switched).toMatchObject({ secretVersion: 2, last4, prepared: null });
    const after = await sent();
    expect([isSigned(after, first), isSigned(after, second)]).toEqual([false, true]);
    // The answer to the first switch may have been lost.
    expect(await other.admin.webhooks.switchSecret.mutate({ keyId, last4 })).toMatchObject({ last4 });
    const log = await server.admin.auditLog.list.query({ target: keyId });
    const secrets = log.filter(({ action }) => action.endsWith('Secret'));
    expect(secrets.map(({ action, outcome }) => `${action} ${outcome}`).sort()).toEqual([
      'webhooks.prepareSecret changed',
      'webhooks.switchSecret changed',
      'webhooks.switchSecret unchanged',
    ]);
    expect(JSON.stringify(log)).not.toContain('whsec_');
  });

  it('stays prepared after webhooks changeUrl, but not after a second preparation, webhooks rotateSecret or webhooks set', async () => {
    const { keyId } = await listening();
    const { webhooks } = other.admin;
    const prepare = async () => (await webhooks.prepareSecret.mutate({ keyId })).signingSecret.slice(-4);
    const change = (last4: string) => refusal(webhooks.switchSecret.mutate({ keyId, last4 }));
    const first = await prepare();
    await prepare();
    expect(await change(first)).toBe('conflict');
    const rotated = await webhooks.rotateSecret.mutate({ keyId });
    expect(rotated.prepared).toBeNull();
    const third = await prepare();
    await webhooks.changeUrl.mutate({ keyId, url: 'http://localhost:1/' });
    expect((await webhooks.show.query({ keyId })).prepared?.last4).toBe(third);
    expect((await webhooks.set.mutate({ keyId, url: 'http://localhost:2/' })).prepared).toBeNull();
    expect(await change(third)).toBe('conflict');
    await webhooks.unset.mutate({ keyId });
    expect(await refusal(webhooks.prepareSecret.mutate({ keyId }))).toBe('conflict');
  });
});

describe('the last use of a secret', () => {
  /** Shows the API key, the client and the endpoint of a partner, which contain the last uses. */
  const noted = (partner: TestPartner) =>
    Promise.all([
      server.admin.keys.show.query({ keyId: partner.keyId }),
      server.admin.clients.show.query({ clientId: partner.clientId }),
      server.admin.webhooks.show.query({ keyId: partner.keyId }),
    ]);
  const now = () => new Date(clock.now()).toISOString();

  it('is shown by keys, clients and webhooks show, separately for an old and a new secret', async () => {
    const { url } = await createReceiver((_count, _request, response) => response.end());
    const partner = await createPartner(server);
    const { keyId, clientId } = partner;
    await server.admin.webhooks.set.mutate({ keyId, url });
    const [unusedKey, unusedClient, unusedEndpoint] = await noted(partner);
    expect([unusedKey.lastUsedAt, unusedClient.secrets[0]?.lastUsedAt, unusedEndpoint.lastUsedAt]).toEqual([
      null,
      null,
      null,
    ]);
    const first = now();
    await query(partner.apiKey);
    await exchangeCode(server, partner, await completeSession(server, partner));
    await server.admin.webhooks.test.mutate({ keyId });
    const seen = async () => {
      const [key, client, endpoint] = await noted(partner);
      return [key.lastUsedAt, client.secrets[0]?.lastUsedAt, endpoint.lastUsedAt];
    };
    await expect.poll(seen).toEqual([first, first, first]);

    const rotated = await other.admin.keys.rotate.mutate({ keyId, keepOldSeconds: 3_600 });
    await other.admin.clients.rotateSecret.mutate({ clientId, keepOldSeconds: 3_600 });
    expect([rotated.lastUsedAt, rotated.oldSecrets[0]?.lastUsedAt]).toEqual([null, first]);
    clock.advance(2 * minute);
    await query(partner.apiKey);
    await exchangeCode(server, partner, await completeSession(server, partner));
    const old = async () => {
      const [key, client] = await noted(partner);
      return [key.lastUsedAt, key.oldSecrets[0]?.lastUsedAt, client.secrets.map((one) => one.lastUsedAt)];
    };
    await expect.poll(old).toEqual([null, now(), [null, now()]]);
  });

  it('is shown by integrations show, separately for the old and the new secret', async () => {
    const shop = await createShop(server);
    const { integrationId } = shop;
    const body = JSON.stringify(fields('svc_code_unknown'));
    await other.admin.integrations.rotateSecret.mutate({ integrationId, keepOldSeconds: 3_600 });
    await call(server, body, sign(shop, body, clock.now()));
    const seen = async () => {
      const { lastUsedAt, oldSecret } = await other.admin.integrations.show.query({ integrationId });
      return [lastUsedAt, oldSecret?.lastUsedAt];
    };
    await expect.poll(seen).toEqual([null, now()]);
  });

  it('is stored once a minute at most, and is not lost if the record is changed at the same time', async () => {
    const partner = await createPartner(server, { funds: 0 });
    const { keyId } = partner;
    const used = async () => (await noted(partner))[0].lastUsedAt;
    const first = now();
    for (let times = 0; times < 5; times += 1) await query(partner.apiKey);
    await expect.poll(used).toBe(first);
    clock.advance(minute - 1);
    await query(partner.apiKey);
    await server.services.lastUses.flush();
    expect(await used()).toBe(first);
    clock.advance(1);
    await query(partner.apiKey);
    await Promise.all([
      server.services.lastUses.flush(),
      other.admin.webhooks.set.mutate({ keyId, url: 'http://localhost:1/' }),
    ]);
    await expect.poll(used).toBe(now());
  });
});
