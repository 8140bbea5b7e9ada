import { expect } from 'vitest';
import type { Checkpoint } from '../../../server/billing/wallets/audit/checkpoint-store.ts';
import { createUserStore } from '../../../server/people/users/user-store.ts';
import type { KeyDocument } from '../../../server/platform/keys/keyring.ts';
import type { TestServer } from '../../harness/server.ts';
import { chargedEntry } from '../commands/charged-entry.ts';
import { jobOf } from './careful-cases.ts';

/**
 * The arguments of each command that always asks. A test fails for a command that is missing both here and in
 * careful-cases.ts.
 */
export const alwaysCareful: Record<string, (server: TestServer) => string[] | Promise<string[]>> = {
  'clients rotate-secret': async (server) => [await createClient(server)],
  'integrations disable': async (server) => [await createIntegration(server)],
  'integrations rotate-secret': async (server) => [await createIntegration(server)],
  'jobs cancel': async (server) => [await waitingJob(server)],
  'keyring reseal': () => [],
  'keyring retire': async (server) => {
    const keys = server.db.collection<KeyDocument>('keys');
    const key = (await keys.findOne({ _id: 'signing-1' })) ?? expect.fail('no signing key');
    const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    await keys.insertOne({ ...key, _id: 'signing-0', createdAt: ago(3), activeAt: ago(3) });
    await keys.updateOne({ _id: 'signing-1' }, { $set: { activeAt: ago(2) } });
    return ['signing-0'];
  },
  'keyring rotate': () => ['signing'],
  'keys revoke': async (server) => [await createKey(server)],
  'keys rotate': async (server) => [await createKey(server)],
  'operators revoke': async (server) => [await createOperator(server)],
  'schema finish': () => [],
  'users erase': async (server) => [await createUser(server)],
  'wallets adjust': async (server) => [
    await createPartner(server),
    '--mode',
    'live',
    '--amount',
    '50',
    '--reason',
    'r',
  ],
  'wallets fund': async (server) => [
    await createPartner(server),
    '--mode',
    'live',
    '--amount',
    '50',
    '--reference',
    'r',
  ],
  'wallets refund': async (server) => [await createCharge(server), '--reason', 'r'],
  'wallets repair': async (server) => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const checkpoint: Checkpoint = {
      _id: `${id}:live`,
      n: 7,
      digest: 'of another chain',
      auditedAt: new Date(),
      seal: 'forged',
    };
    await server.db.collection<Checkpoint>('ledgerCheckpoints').insertOne(checkpoint);
    return [id];
  },
  'webhooks notices': async (server) => [await createKey(server), 'on'],
  'webhooks rotate-secret': async (server) => [await createKey(server)],
  'webhooks switch-secret': async (server) => {
    const key = await createKey(server);
    await server.admin.webhooks.prepareSecret.mutate({ keyId: key });
    return [key];
  },
  'webhooks unset': async (server) => [await createKey(server)],
};

const createPartner = async (server: TestServer) =>
  (await server.admin.partners.create.mutate({ name: 'Acme' })).id;

async function createKey(server: TestServer, given?: string): Promise<string> {
  const partnerId = given ?? (await createPartner(server));
  const { id } = await server.admin.keys.create.mutate({ partnerId, mode: 'test' });
  await server.admin.webhooks.set.mutate({ keyId: id, url: 'https://partner.example/' });
  return id;
}

async function createClient(server: TestServer, given?: string): Promise<string> {
  const partnerId = given ?? (await createPartner(server));
  const { id } = await server.admin.clients.create.mutate({
    partnerId,
    keyId: await createKey(server, partnerId),
    name: 'Shop',
    kind: 'storefront',
    redirectUris: ['https://shop.example/'],
    claims: ['age_18_plus'],
  });
  return id;
}

async function createIntegration(server: TestServer): Promise<string> {
  const partnerId = await createPartner(server);
  const shop = { clientId: await createClient(server, partnerId), shops: ['shop.example'] };
  return (await server.admin.integrations.create.mutate({ partnerId, ...shop })).id;
}

const createOperator = async (server: TestServer) =>
  (await server.admin.operators.create.mutate({ name: 'Kim', role: 'ops' })).id;

async function createUser(server: TestServer): Promise<string> {
  const sandboxUser = { identity: 'kim', mode: 'test', createdAt: new Date() } as const;
  return (await createUserStore(server.db).findOrCreate(sandboxUser)).user._id;
}

const createCharge = async (server: TestServer) => chargedEntry(server, await createPartner(server), 'live');

/** Triggers an event for a URL where no server listens. Returns the id of the job that makes the second attempt. */
async function waitingJob(server: TestServer): Promise<string> {
  const { admin } = server;
  const { id: keyId } = await admin.keys.create.mutate({
    partnerId: await createPartner(server),
    mode: 'test',
  });
  await admin.webhooks.set.mutate({ keyId, url: 'http://localhost:1/' });
  const { id: deliveryId } = await admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
  const attempts = async () => (await admin.deliveries.show.query({ deliveryId })).attempts.length;
  await expect.poll(attempts).toBe(1);
  return jobOf(server, deliveryId);
}
