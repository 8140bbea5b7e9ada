import { expect, it, onTestFinished } from 'vitest';
import { createSealing } from '../../server/platform/keys/sealing.ts';
import { createPartner } from '../harness/partner.ts';
import { createReceiver } from '../harness/receiver.ts';
import { adminToken, startTestServer } from '../harness/server.ts';
import { draft } from '../webhooks/system.ts';

const [own, other] = [7, 9].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];
const both = createSealing([other, own]);

/** A server with one master key, and the functions by which another process seals values under another one. */
async function createReplaced() {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const readyz = async () => {
    const response = await fetch(`${server.baseUrl}/readyz`);
    return { status: response.status, ...((await response.json()) as { reasons: string[] }) };
  };
  async function reseal(collection: string, field: string, filter: object = {}) {
    const { _id, ...found } = (await server.db.collection(collection).findOne(filter)) ?? {};
    if (!_id) throw new Error('nothing to reseal');
    const sealed = field
      .split('.')
      .reduce<unknown>((value, name) => (value as Record<string, unknown>)[name], found);
    const resealed = await both.seal(await both.open(String(sealed)));
    await server.db.collection(collection).updateOne({ _id }, { $set: { [field]: resealed } });
    return () => server.db.collection(collection).updateOne({ _id }, { $set: { [field]: sealed } });
  }
  return { server, readyz, reseal };
}

const lacking = {
  status: 503,
  ready: false,
  reasons: [expect.stringContaining(`SVC_MASTER_KEY of this process lacks keys`)],
};

it('a process is not ready while a key of the keyring is sealed under a master key that it lacks', async () => {
  const { server, readyz, reseal } = await createReplaced();
  const putBack = await reseal('keys', 'sealed', { use: 'signing' });
  await server.sweep();
  expect(await readyz()).toMatchObject(lacking);
  await server.sweep();
  expect((await readyz()).reasons[0]).toContain(both.masterKeys[0]);
  const { processes, missingRoles } = await server.admin.status.query();
  expect(processes).toMatchObject([
    {
      ready: false,
      reasons: [expect.stringContaining(String(both.masterKeys[0]))],
      clockOffsetMs: expect.any(Number),
    },
  ]);
  expect(processes?.[0]?.masterKeys).toEqual(createSealing([own]).masterKeys);
  expect(missingRoles).toEqual([]);
  const page = await fetch(`${server.adminUrl}/ops`, {
    headers: { authorization: `Basic ${Buffer.from(`kim:${adminToken}`).toString('base64')}` },
  });
  const html = await page.text();
  expect(html).toContain('Needs attention');
  expect(html).toMatch(/\(api, admin, worker\) is not ready: SVC_MASTER_KEY of this process lacks keys/);
  await putBack();
  await server.sweep();
  expect(await readyz()).toMatchObject({ status: 200, reasons: [] });
});

it('a worker is not ready after an attempt has met a secret that it cannot open, and after a check has found one', async () => {
  const { server, readyz, reseal } = await createReplaced();
  const { keyId } = await createPartner(server);
  const receiver = await createReceiver();
  await server.admin.webhooks.set.mutate({ keyId, url: receiver.url });
  const putBack = await reseal('apiKeys', 'webhook.sealedSecret', { _id: keyId });
  await server.services.webhooks.publish([draft(keyId)]);
  await expect.poll(readyz).toMatchObject(lacking);
  await putBack();
  await server.sweep();
  expect(await readyz()).toMatchObject({ status: 200 });
  await reseal('apiKeys', 'webhook.sealedSecret', { _id: keyId });
  await server.sweep();
  expect(await readyz()).toMatchObject(lacking);
});
