import { describe, expect, it, vi } from 'vitest';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { adminOf, createSystem, draft, type System, until } from '../system.ts';

const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const refused = (call: Promise<unknown>, code: string, words: string | RegExp = '') =>
  expect(call).rejects.toMatchObject({ cause: { code, message: expect.stringMatching(words) } });
const since = '2026-01-01T00:00:00Z';

/** A test key with one event that its receiver has answered with 500 three times, and another receiver. */
async function failedEvent() {
  const [broken, other] = [
    await createReceiver((_count, _request, response) => response.writeHead(500).end()),
    await createReceiver(),
  ];
  const system = await createSystem({ retryDelays: [0, 0] });
  const keyId = system.key(broken.url);
  await system.publish([draft(keyId)]);
  const { _id, eventId } = await until(() => stored(system).findOne({ status: 'failed' }));
  return { system, keyId, deliveryId: _id, eventId, broken, other };
}

/** A live key with one pending event. No process sends. */
async function liveEvent() {
  const system = await createSystem({ worker: false });
  const keyId = system.key('https://partner.example/hooks');
  const change = (change: { mode?: 'live'; url?: string }) => {
    const endpoint = system.endpoints.get(keyId);
    if (endpoint?.state === 'on') system.endpoints.set(keyId, { ...endpoint, ...change });
  };
  change({ mode: 'live' });
  await system.publish([{ ...draft(keyId), mode: 'live' }]);
  const deliveryId = (await stored(system).findOne({ keyId }))?._id ?? '';
  return { system, keyId, deliveryId, change };
}

describe('a resend to another URL', () => {
  it('goes there with the signature of the key, and shows the URL', async () => {
    const { system, keyId, deliveryId, other, broken } = await failedEvent();
    const { deliveries } = adminOf(system);
    const { deliveries: made } = await deliveries.resend({ deliveryIds: [deliveryId], to: other.url });
    expect(made).toMatchObject([{ to: other.url, keyId, resendOf: deliveryId }]);
    await until(() => stored(system).findOne({ _id: made[0]?.id ?? '', status: 'delivered' }));
    const endpoint = system.endpoints.get(keyId);
    const secret = endpoint?.state === 'on' ? endpoint.secret : '';
    const [request] = other.received;
    expect(request?.headers['x-svc-signature']).toBe(contractSignature(request?.raw ?? '', secret));
    expect(broken.received).toHaveLength(3);
    expect(await deliveries.show({ deliveryId })).toMatchObject({ to: null });
  });

  it('leaves the event failed, says so in its timeline, and does not count as an answer of the endpoint', async () => {
    const { system, keyId, deliveryId, eventId, other } = await failedEvent();
    const { deliveries, events, webhooks } = adminOf(system);
    await deliveries.resend({ deliveryIds: [deliveryId], to: other.url });
    await until(() => stored(system).findOne({ to: other.url, status: 'delivered' }));
    expect(await events.why({ eventId })).toMatchObject({
      status: 'failed',
      story: expect.arrayContaining([expect.stringContaining(`to ${other.url}`)]),
    });
    expect(await webhooks.health({ keyId })).toMatchObject([{ keyId, attempts: 3 }]);
  });

  it('is refused for a live key unless the host is that of its webhook URL', async () => {
    const { system, deliveryId } = await liveEvent();
    const { deliveries } = adminOf(system);
    const resend = (to: string, dryRun = false) =>
      deliveries.resend({ deliveryIds: [deliveryId], to, dryRun });
    for (const dryRun of [true, false]) {
      await refused(resend('https://other.example/hooks', dryRun), 'refused', 'go to partner.example only');
      await refused(resend('https://partner.example:8443/hooks', dryRun), 'refused');
      await refused(resend('http://localhost:9000/', dryRun), 'refused', 'needs an https');
      await refused(resend('partner.example', dryRun), 'refused', 'absolute');
    }
    expect(await stored(system).countDocuments()).toBe(1);
    expect((await resend('https://partner.example/v2')).deliveries).toMatchObject([
      { to: 'https://partner.example/v2' },
    ]);
  });

  it('reads the endpoint of its key once, as a bulk job does', async () => {
    const { system, keyId, deliveryId } = await liveEvent();
    const { deliveries, bulk } = adminOf(system);
    const reads = vi.spyOn(system.endpoints, 'get');
    const [to, dryRun] = ['https://partner.example/v2', true];
    await deliveries.resend({ deliveryIds: [deliveryId], to, dryRun });
    expect(reads).toHaveBeenCalledTimes(1);
    await bulk.start({ action: 'replay', filter: { keyId, since }, to, dryRun });
    expect(reads).toHaveBeenCalledTimes(2);
  });

  it('is skipped if the webhook URL of the live key has another host by then', async () => {
    const { system, deliveryId, change } = await liveEvent();
    const { deliveries } = adminOf(system);
    await deliveries.resend({ deliveryIds: [deliveryId], to: 'https://partner.example/v2' });
    change({ url: 'https://moved.example/' });
    await createSystem({ db: system.db, endpoints: system.endpoints });
    const skipped = await until(() => stored(system).findOne({ status: 'skipped' }));
    expect(skipped).toMatchObject({ resendOf: deliveryId, skipped: { reason: 'cancelled' } });
    expect(await deliveries.list({ status: 'skipped' })).toMatchObject([{ skipped: 'other_host' }]);
  });

  it('is refused for the role ops, which may not change a webhook URL, and for a key without an endpoint', async () => {
    const { system, keyId, deliveryId, other } = await failedEvent();
    const wanted = { deliveryIds: [deliveryId], to: other.url };
    const replay = { action: 'replay' as const, filter: { keyId, since }, to: other.url };
    await refused(adminOf(system, 'ops').deliveries.resend(wanted), 'not_permitted');
    await refused(adminOf(system, 'ops').bulk.start(replay), 'not_permitted');
    system.endpoints.set(keyId, { state: 'off', reason: 'no_url' });
    await refused(adminOf(system).deliveries.resend(wanted), 'conflict');
    await refused(adminOf(system).bulk.start(replay), 'conflict');
    expect(other.received).toHaveLength(0);
  });
});

describe('a bulk job to another URL', () => {
  const finished = (system: System, bulkId = '') =>
    until(async () => (await adminOf(system).bulk.show({ bulkId })).status === 'done');

  it('sends there, is no obstacle to a job for the webhook URL, and does not count as arrived there', async () => {
    const { system, keyId, other, broken } = await failedEvent();
    const { bulk } = adminOf(system);
    const filter = { keyId, since };
    const elsewhere = await bulk.start({ action: 'replay', filter, to: other.url });
    expect(elsewhere.job).toMatchObject({ to: other.url, total: 1 });
    await finished(system, elsewhere.job?.id);
    await until(() => other.received.length === 1);
    await refused(bulk.start({ action: 'replay', filter, to: other.url }), 'conflict');
    const before = broken.received.length;
    const resent = await bulk.start({ action: 'resend', filter });
    expect(resent.total).toBe(1);
    await finished(system, resent.job?.id);
    await until(() => broken.received.length > before);
    // The delivery of the resend waits for its next attempt, so nothing is left to send. The replay is not refused.
    expect(await bulk.start({ action: 'replay', filter })).toMatchObject({ total: 0, job: null });
  });

  it('needs one key, and is for resend and replay only', async () => {
    const { system, keyId, other } = await failedEvent();
    const { bulk } = adminOf(system);
    const to = other.url;
    const start = (wanted: Parameters<typeof bulk.start>[0]) => bulk.start(wanted);
    await expect(start({ action: 'resend', filter: { since }, to })).rejects.toThrow('needs keyId');
    await expect(start({ action: 'cancel', filter: { keyId }, to })).rejects.toThrow('resend or replay only');
  });
});
