import { expect } from 'vitest';
import type { Checkpoint } from '../../../server/billing/wallets/audit/checkpoint-store.ts';
import { createPasskeyStore, type Passkey } from '../../../server/people/passkeys/passkey-store.ts';
import { createUserStore } from '../../../server/people/users/user-store.ts';
import { randomId } from '../../../server/platform/ids.ts';
import type { KeyDocument } from '../../../server/platform/keys/keyring.ts';
import type { TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { chargedEntry } from '../commands/charged-entry.ts';

type Case = (server: TestServer) => Promise<string[]>;

const redirectUris = ['https://shop.example/'];

async function livePartner({ admin }: TestServer) {
  const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
  await admin.partners.activate.mutate({ partnerId });
  const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'live' });
  return { partnerId, keyId };
}

async function liveClient(server: TestServer): Promise<string> {
  const owner = await livePartner(server);
  const { id } = await server.admin.clients.create.mutate({
    ...owner,
    name: 'Shop',
    redirectUris,
    claims: ['country'],
  });
  return id;
}

/** A delivery that waits for its second attempt. Its record is changed to live mode after the first attempt. */
async function pendingDelivery({ admin, db }: TestServer, change: Record<string, unknown> = {}) {
  const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
  await admin.partners.activate.mutate({ partnerId });
  const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
  await admin.webhooks.set.mutate({ keyId, url: 'http://localhost:1/' });
  const { id } = await admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
  const attempted = async () => {
    const { status, attempts } = await admin.deliveries.show.query({ deliveryId: id });
    return [status, attempts.length];
  };
  await expect.poll(attempted, { timeout: within(20_000) }).toEqual(['pending', 1]);
  const deliveries = db.collection<{ _id: string }>('deliveries');
  await deliveries.updateOne({ _id: id }, { $set: { mode: 'live', ...change } });
  return { id, keyId, partnerId };
}

/** The job that makes the next attempt of a delivery. */
export async function jobOf({ admin }: TestServer, deliveryId: string): Promise<string> {
  const find = async () => {
    const jobs = await admin.jobs.list.query({ limit: 500 });
    const shown = await Promise.all(jobs.map(({ id: jobId }) => admin.jobs.show.query({ jobId })));
    return shown.find(({ deliveryIds }) => deliveryIds.includes(deliveryId))?.id;
  };
  await expect.poll(find, { timeout: within(20_000) }).toBeDefined();
  return (await find()) ?? '';
}

const liveJob = async (server: TestServer) => jobOf(server, (await pendingDelivery(server)).id);

async function liveEnrollment(server: TestServer): Promise<string> {
  const { partnerId, keyId } = await livePartner(server);
  const { db } = server;
  const _id = randomId('enrollment');
  const createdAt = new Date();
  const { user } = await createUserStore(db).findOrCreate({ identity: _id, mode: 'live', createdAt });
  await db.collection<{ _id: string }>('enrollments').insertOne({
    ...{ _id, partnerId, keyId, clientId: randomId('client'), mode: 'live', userId: user._id },
    ...{
      sub: 'a-subject',
      status: 'active',
      consentedClaims: [],
      firstSession: 'ses_1',
      createdAt,
      audit: [],
    },
  } as never);
  return _id;
}

async function liveIntegration(server: TestServer): Promise<string> {
  const owner = await livePartner(server);
  const common = { ...owner, name: 'Shop', redirectUris, kind: 'storefront' as const };
  const client = await server.admin.clients.create.mutate({ ...common, claims: ['age_18_plus'] });
  const shop = { partnerId: owner.partnerId, clientId: client.id, shops: ['one.example'] };
  return (await server.admin.integrations.create.mutate(shop)).id;
}

async function liveUser({ db }: Pick<TestServer, 'db'>): Promise<string> {
  const createdAt = new Date();
  const identity = randomId('enrollment');
  return (await createUserStore(db).findOrCreate({ identity, mode: 'live', createdAt })).user._id;
}

async function liveWebhook(server: TestServer): Promise<string> {
  const { keyId } = await livePartner(server);
  await server.admin.webhooks.set.mutate({ keyId, url: 'https://one.example/' });
  return keyId;
}

const liveWallet = async (server: TestServer) => [
  (await livePartner(server)).partnerId,
  ...['--mode', 'live', '--amount', '50'],
];

/** Commands that need confirmation on every server. */
const askedOnEveryServer: Record<string, Case> = {
  'bulk cancel': async (server) => {
    const failedNow = { status: 'failed', endedAt: new Date() };
    const { id: first, keyId, partnerId } = await pendingDelivery(server, failedNow);
    const deliveries = server.db.collection<{ _id: string }>('deliveries');
    const { _id, ...failed } = (await deliveries.findOne({ _id: first })) ?? expect.fail('no delivery');
    await deliveries.insertMany(Array.from({ length: 60 }, () => ({ ...failed, _id: randomId('delivery') })));
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const filter = { keyId, partnerId, status: 'failed' as const, since };
    const { job } = await server.admin.bulk.start.mutate({ action: 'resend', filter, rate: 1 });
    return [job?.id ?? 'no job'];
  },
  'clients rotate-secret': async (server) => [await liveClient(server)],
  'deliveries hold': async (server) => ['--key', (await pendingDelivery(server)).keyId, '--for', '4h'],
  'deliveries reschedule': async (server) => ['--key', (await pendingDelivery(server)).keyId, '--in', '4h'],
  'integrations disable': async (server) => [await liveIntegration(server)],
  'integrations rotate-secret': async (server) => [await liveIntegration(server)],
  'jobs cancel': async (server) => [await liveJob(server)],
  'keyring reseal': async () => [],
  'keyring retire': async (server) => {
    const keys = server.db.collection<KeyDocument>('keys');
    const key = (await keys.findOne({ _id: 'signing-1' })) ?? expect.fail('no signing key');
    const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000);
    await keys.insertOne({ ...key, _id: 'signing-0', createdAt: ago(3), activeAt: ago(3) });
    await keys.updateOne({ _id: 'signing-1' }, { $set: { activeAt: ago(2) } });
    return ['signing-0'];
  },
  'keyring rotate': async () => ['signing'],
  'keys revoke': async (server) => [await liveWebhook(server)],
  'keys rotate': async (server) => [await liveWebhook(server)],
  'members remove': async (server) => {
    const { partnerId } = await livePartner(server);
    const member = { partnerId, email: 'ana@shop.example', role: 'viewer' as const };
    return [(await server.admin.members.invite.mutate(member)).id];
  },
  'operators revoke': async ({ admin }) => [
    (await admin.operators.create.mutate({ name: 'Kim', role: 'ops' })).id,
  ],
  'partners close': async (server) => [(await livePartner(server)).partnerId, '--reason', 'they leave'],
  'schema finish': async () => [],
  'users erase': async (server) => [await liveUser(server)],
  'users hold': async (server) => [await liveUser(server), '--until', '30d', '--reason', 'a court order'],
  'users release': async (server) => {
    const userId = await liveUser(server);
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await server.admin.users.hold.mutate({ userId, until, reason: 'a court order' });
    return [userId, '--reason', 'settled'];
  },
  'users remove-passkey': async (server) => {
    const userId = await liveUser(server);
    const passkey: Passkey = {
      ...{ _id: randomId('passkey'), userId, mode: 'live', credentialId: 'AAAA', publicKey: '' },
      ...{ counter: 0, transports: [], synced: true, createdAt: new Date(), answeredAt: 0 },
    };
    await createPasskeyStore(server.db).insert(passkey);
    return [userId, passkey._id];
  },
  'wallets adjust': async (server) => [...(await liveWallet(server)), '--reason', 'r'],
  'wallets fund': async (server) => [...(await liveWallet(server)), '--reference', 'r'],
  'wallets refund': async (server) => {
    const { partnerId } = await livePartner(server);
    return [await chargedEntry(server, partnerId, 'live'), '--reason', 'r'];
  },
  'wallets repair': async (server) => {
    const { partnerId } = await livePartner(server);
    const checkpoint: Checkpoint = {
      ...{ _id: `${partnerId}:live`, n: 7, digest: 'of another chain' },
      ...{ auditedAt: new Date(), seal: 'forged' },
    };
    await server.db.collection<Checkpoint>('ledgerCheckpoints').insertOne(checkpoint);
    return [partnerId];
  },
  'webhooks notices': async (server) => [await liveWebhook(server), 'on'],
  'webhooks pause': async (server) => [await liveWebhook(server), '--until', '4h'],
  'webhooks replay': async (server) => {
    const { keyId } = await pendingDelivery(server, { status: 'failed', endedAt: new Date() });
    return [keyId, '--since', '1h'];
  },
  'webhooks rotate-secret': async (server) => [await liveWebhook(server)],
  'webhooks switch-secret': async (server) => {
    const keyId = await liveWebhook(server);
    await server.admin.webhooks.prepareSecret.mutate({ keyId });
    return [keyId];
  },
  'webhooks unset': async (server) => [await liveWebhook(server)],
};

/** Commands that asked no question in 0.8.0, which scripts may run without --yes on other servers than those of production. */
const askedOnProduction: Record<string, Case> = {
  'audit-log undo': async (server) => {
    const { partnerId } = await livePartner(server);
    await server.admin.partners.update.mutate({ partnerId, name: 'Wrong' });
    const [entry] = await server.admin.auditLog.list.query({ target: partnerId, action: 'partners.update' });
    return [entry?.requestId ?? ''];
  },
  'brands approve': async (server) => {
    const id = await liveClient(server);
    const brandRequest = {
      ...{ status: 'waiting', changes: { brandName: 'Wine Shop' } },
      ...{ requestedAt: new Date(), requestedBy: 'mem_1' },
    };
    const clients = server.db.collection<{ _id: string }>('clients');
    await clients.updateOne({ _id: id }, { $set: { brandRequest } });
    return [id];
  },
  'clients disable': async (server) => [await liveClient(server)],
  'clients update': async (server) => [await liveClient(server), '--name', 'Wine'],
  'deliveries cancel': async (server) => [(await pendingDelivery(server)).id],
  'deliveries resend': async (server) => {
    const { keyId } = await pendingDelivery(server, { status: 'failed', endedAt: new Date() });
    return ['--key', keyId, '--since', '1h'];
  },
  'enrollments block': async (server) => [await liveEnrollment(server), '--reason', 'a report'],
  'integrations update': async (server) => [await liveIntegration(server), '--add-shop', 'two.example'],
  'jobs reschedule': async (server) => [await liveJob(server), '--in', '3h'],
  'jobs run': async (server) => [await liveJob(server)],
  'limits set': async (server) => {
    const { partnerId } = await livePartner(server);
    return [partnerId, '--mode', 'live', '--per-minute', '9'];
  },
  'partners suspend': async (server) => [(await livePartner(server)).partnerId],
  'partners update': async (server) => [(await livePartner(server)).partnerId, '--name', 'Acme Europe'],
  'prices set': async (server) => {
    const { partnerId } = await livePartner(server);
    return [partnerId, '--kind', 'token', '--cents', '40'];
  },
  'webhooks set': async (server) => [await liveWebhook(server), '--url', 'https://two.example/'],
};

export const alwaysAsked = Object.keys(askedOnEveryServer);
/** The arguments of each command that asks. They affect live users or money. */
export const carefulCases: Record<string, Case> = { ...askedOnEveryServer, ...askedOnProduction };
