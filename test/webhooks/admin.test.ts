import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { eventNames } from '../../contracts/event-names.ts';
import type { Delivery } from '../../server/webhooks/delivery/delivery.ts';
import { contractSignature } from '../../server/webhooks/egress/signature.ts';
import { createReceiver } from '../harness/receiver.ts';
import { adminOf, createSystem, draft, type System, until } from './system.ts';

const long = [3_600_000, 3_600_000];
const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const ended = (system: System, status: Delivery['status']) => until(() => stored(system).findOne({ status }));
const rejects = (call: Promise<unknown>, code: string) =>
  expect(call).rejects.toMatchObject({ cause: { code } });
const secretOf = (system: System, keyId: string): string => {
  const endpoint = system.endpoints.get(keyId);
  return endpoint?.state === 'on' ? endpoint.secret : '';
};
const respondingWith = (status: number) =>
  createReceiver((_count, _request, response) => response.writeHead(status).end('gone'));

/** Deliveries of one key that no process sends. */
async function unsent(count: number) {
  const system = await createSystem({ worker: false });
  const keyId = system.key('https://partner.example/');
  await system.publish(Array.from({ length: count }, () => draft(keyId)));
  return { system, keyId };
}

describe('events for operators', () => {
  it('are listed newest first in pages, by time, enrollment and type, with the status of their deliveries', async () => {
    const receiver = await respondingWith(200);
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    const past = (minutes: number) => new Date(Date.now() - minutes * 60_000);
    const drafts = [3, 2, 1].map((minutes) => draft(keyId, past(minutes)));
    await system.publish(drafts);
    await until(async () => (await stored(system).countDocuments({ status: 'delivered' })) === 3);
    const { events } = adminOf(system);

    const [newest, ...others] = await events.list({ keyId });
    expect(newest).toMatchObject({ event: 'enrollment.created', status: 'delivered', nextAttemptAt: null });
    expect(newest?.attempts).toMatchObject([{ attempt: 1, status: 200, error: null }]);
    expect(newest?.createdAt).toBe(drafts[2]?.at.toISOString());
    expect(await events.list({ keyId, limit: 5, after: newest?.id ?? '' })).toEqual(others);
    expect(
      await events.list({ since: past(2.5).toISOString(), until: past(1.5).toISOString() }),
    ).toHaveLength(1);
    expect(await events.list({ enrollmentId: drafts[0]?.about.enrollmentId ?? '' })).toHaveLength(1);
    expect(await events.list({ event: 'vae.resolved' })).toEqual([]);
    const shown = await events.show({ eventId: newest?.id ?? '' });
    expect(shown.body).toBe(receiver.received.find(({ body }) => body.includes(shown.id))?.body);
    await rejects(events.show({ eventId: 'evt_none' }), 'not_found');
  });

  it('have a timeline of their attempts; after an operator has cancelled the delivery, the advice is to resend it', async () => {
    const receiver = await respondingWith(410);
    const system = await createSystem({ retryDelays: long });
    const keyId = system.key(receiver.url);
    await system.publish([draft(keyId)]);
    const { _id, eventId } = await until(() => stored(system).findOne({ attempt: 2, status: 'pending' }));
    const { events, deliveries } = adminOf(system);
    const waiting = await events.why({ eventId });
    expect(waiting).toMatchObject({ status: 'pending', advice: null });
    expect(waiting.story).toEqual([
      expect.stringContaining('enrollment.created happened'),
      expect.stringMatching(/attempt 1 \(immediately\): the answer was HTTP 410 at 127\.0\.0\.1/),
      expect.stringMatching(/^Attempt 2 of 3 is due at .*, in \d+ s\.$/),
    ]);
    const endpoint = system.endpoints.get(keyId) ?? expect.fail();
    system.endpoints.set(keyId, { state: 'off', reason: 'key_revoked' });
    const off = await events.why({ eventId });
    expect(off.story.at(-1)).toContain(`delivery ${_id} will be skipped then: the key was revoked.`);
    expect(off.advice).toContain('svcadmin clients update --key');
    system.endpoints.set(keyId, endpoint);
    await deliveries.cancel({ deliveryId: _id });
    const cancelled = await events.why({ eventId });
    expect(cancelled.story.at(-1)).toContain('an operator cancelled it');
    expect(cancelled.advice).toContain(`svcadmin deliveries resend ${_id}`);
  });

  it('have advice with the next commands; to an operator with the role ops, it says who may run them', async () => {
    const system = await createSystem();
    system.endpoints.set('key_off', { state: 'off', reason: 'no_url' });
    await system.publish([draft('key_off')]);
    const { _id, eventId } = await ended(system, 'skipped');
    const advice = async (role: 'support' | 'ops') =>
      (await adminOf(system, role).events.why({ eventId })).advice;
    const [set, resend] = ['svcadmin webhooks set key_off --url URL', `svcadmin deliveries resend ${_id}`];
    expect(await advice('support')).toBe(`Set a URL: ${set}, then: ${resend}`);
    expect(await advice('ops')).toBe(`Set a URL: ask support or an owner for: ${set}, then: ${resend}`);
  });

  it('let an operator with the role support reschedule, cancel and resend their deliveries, also for a live key', async () => {
    const system = await createSystem({ worker: false });
    const keyId = system.key('https://partner.example/');
    const endpoint = system.endpoints.get(keyId);
    if (endpoint?.state === 'on') system.endpoints.set(keyId, { ...endpoint, mode: 'live' });
    await system.publish([{ ...draft(keyId), mode: 'live' }]);
    const { deliveries } = adminOf(system, 'support');
    const [delivery] = await deliveries.list({ keyId });
    expect(delivery).toMatchObject({ mode: 'live', status: 'pending' });
    const deliveryId = delivery?.id ?? '';
    expect(await deliveries.reschedule({ deliveryId, inSeconds: 60 })).toMatchObject({ status: 'pending' });
    expect(await deliveries.cancel({ deliveryId })).toMatchObject({
      status: 'skipped',
      skipped: 'cancelled',
    });
    const again = await deliveries.resend({ deliveryIds: [deliveryId], dryRun: false });
    expect(again.deliveries).toMatchObject([{ resendOf: deliveryId, mode: 'live' }]);
  });

  it.each([
    ['no_url', 'svcadmin webhooks set'],
    ['partner_suspended', 'svcadmin partners activate'],
    ['partner_closed', 'If it has come back: svcadmin partners activate'],
    ['key_revoked', 'revoked key'],
  ] as const)(
    'have advice (events.why) that names the remedy if their delivery was skipped because of %s',
    async (reason, words) => {
      const system = await createSystem();
      system.endpoints.set('key_off', { state: 'off', reason });
      await system.publish([draft('key_off')]);
      const { eventId } = await ended(system, 'skipped');
      expect((await adminOf(system).events.why({ eventId })).advice).toContain(words);
    },
  );
});

describe('deliveries', () => {
  it('can be resent several times, with the same event and bytes', async () => {
    const receiver = await respondingWith(200);
    const system = await createSystem();
    await system.publish([draft(system.key(receiver.url))]);
    const { _id, eventId } = await ended(system, 'delivered');
    const { deliveries, events } = adminOf(system);
    for (const count of [2, 3]) {
      const [again] = (await deliveries.resend({ deliveryIds: [_id] })).deliveries;
      expect(again).toMatchObject({ eventId, resendOf: _id, status: 'pending' });
      await until(
        async () => (await deliveries.show({ deliveryId: again?.id ?? '' })).status === 'delivered',
      );
      expect(receiver.received).toHaveLength(count);
    }
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect((await events.show({ eventId })).attempts.map(({ trigger }) => trigger)).toEqual([
      'event',
      'resend',
      'resend',
    ]);
    expect((await events.why({ eventId })).story.join('\n')).toMatch(/(operator|member) \w+ resent/);
  });

  it('can be resent while they wait for a retry, and the retry stays scheduled', async () => {
    const receiver = await respondingWith(500);
    const system = await createSystem({ retryDelays: long });
    await system.publish([draft(system.key(receiver.url))]);
    const first = await until(() => stored(system).findOne({ attempt: 2, status: 'pending' }));
    await adminOf(system).deliveries.resend({ deliveryIds: [first._id] });
    await until(() => receiver.received.length === 2);
    expect(await stored(system).findOne({ _id: first._id })).toEqual(first);
  });

  it('are refused with not_found, and none is resent, if one of them does not exist', async () => {
    const { system } = await unsent(1);
    const [one] = await stored(system).find().toArray();
    const { deliveries } = adminOf(system);
    await rejects(deliveries.resend({ deliveryIds: [one?._id ?? '', 'dlv_none'] }), 'not_found');
    // Without a URL, the resend would only be skipped. The dry run says so too.
    system.endpoints.set(one?.keyId ?? '', { state: 'off', reason: 'no_url' });
    for (const dryRun of [true, false])
      await rejects(deliveries.resend({ deliveryIds: [one?._id ?? ''], dryRun }), 'conflict');
    expect(await stored(system).countDocuments()).toBe(1);
  });

  it('become due at ten a second for each key if many are resent', async () => {
    const { system } = await unsent(25);
    const deliveryIds = (await stored(system).find().toArray()).map(({ _id }) => _id);
    const { deliveries } = await adminOf(system).deliveries.resend({ deliveryIds });
    const start = Date.parse(deliveries[0]?.nextAttemptAt ?? '');
    const seconds = deliveries.map(({ nextAttemptAt }) => (Date.parse(nextAttemptAt ?? '') - start) / 1000);
    expect(seconds).toEqual([...Array(10).fill(0), ...Array(10).fill(1), ...Array(5).fill(2)]);
  });

  it('are cancelled if they wait for a retry, and refused with conflict if already cancelled', async () => {
    const receiver = await respondingWith(500);
    const system = await createSystem({ retryDelays: long });
    await system.publish([draft(system.key(receiver.url))]);
    const { _id } = await until(() => stored(system).findOne({ attempt: 2, status: 'pending' }));
    const { deliveries } = adminOf(system);
    expect(await deliveries.cancel({ deliveryId: _id })).toMatchObject({
      status: 'skipped',
      skipped: 'cancelled',
      nextAttemptAt: null,
    });
    await rejects(deliveries.cancel({ deliveryId: _id }), 'conflict');
    await rejects(deliveries.cancel({ deliveryId: 'dlv_none' }), 'not_found');
  });
});

describe('the operator procedures of webhooks', () => {
  it('test sends a sample of a failed session once, and returns the result', async () => {
    const receiver = await respondingWith(503);
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    const { webhooks } = adminOf(system);
    expect(await webhooks.test({ keyId })).toMatchObject({
      status: 'failed',
      attempts: [{ trigger: 'test', status: 503, error: 'http' }],
    });
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      event: 'verification.session.failed',
      failure_reason: 'abandoned',
    });
    system.endpoints.set(keyId, { state: 'off', reason: 'no_url' });
    expect(await webhooks.test({ keyId })).toMatchObject({ status: 'skipped', skipped: 'no_url' });
    expect(receiver.received).toHaveLength(1);
    await rejects(webhooks.test({ keyId: 'key_none' }), 'not_found');
  });

  it.each(eventNames)(
    'trigger sends a signed sample of %s, and sends it again after a failure',
    async (event) => {
      const receiver = await createReceiver((count, _request, response) =>
        response.writeHead(count > 1 ? 200 : 500).end(),
      );
      const system = await createSystem({ retryDelays: [100, 100] });
      const keyId = system.key(receiver.url);
      const { id } = await adminOf(system).webhooks.trigger({ keyId, event });
      await ended(system, 'delivered');
      expect(receiver.received).toHaveLength(2);
      const { headers, body } = receiver.received[1] ?? { headers: {}, body: '' };
      expect(JSON.parse(body)).toMatchObject({ event });
      new Webhook(secretOf(system, keyId)).verify(body, headers as Record<string, string>);
      expect(id).toMatch(/^dlv_/);
    },
  );

  it('trigger and relay answer `refused` for a live key', async () => {
    const system = await createSystem();
    const keyId = system.key('https://partner.example/');
    const endpoint = system.endpoints.get(keyId);
    if (endpoint?.state === 'on') system.endpoints.set(keyId, { ...endpoint, mode: 'live' });
    const { webhooks } = adminOf(system);
    await rejects(webhooks.trigger({ keyId, event: 'vae.resolved' }), 'refused');
    await rejects(webhooks.relay({ keyId }), 'refused');
  });

  it('verify accepts a captured request, and names an altered body and an old secret', async () => {
    const receiver = await respondingWith(200);
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    await system.publish([draft(keyId)]);
    await ended(system, 'delivered');
    const body = receiver.received[0]?.body ?? '';
    const signature = String(receiver.received[0]?.headers['x-svc-signature']);
    const { webhooks } = adminOf(system);
    expect(await webhooks.verify({ keyId, body, signature })).toMatchObject({ verified: true, faults: [] });
    expect(await webhooks.verify({ keyId, body: `${body} `, signature })).toMatchObject({
      verified: false,
      faults: ['altered_body'],
    });
    const endpoint = system.endpoints.get(keyId);
    if (endpoint?.state === 'on')
      system.endpoints.set(keyId, { ...endpoint, secret: 'whsec_bmV3', secretVersion: 2 });
    expect(await webhooks.verify({ keyId, body, signature })).toMatchObject({
      verified: false,
      faults: ['old_secret'],
    });
  });

  it('relay returns deliveries since a time, including resends, with valid signatures', async () => {
    const receiver = await respondingWith(200);
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    const { webhooks, deliveries } = adminOf(system);
    const { until: since, deliveries: none } = await webhooks.relay({ keyId });
    expect(none).toEqual([]);
    await system.publish([draft(keyId)]);
    const { _id } = await ended(system, 'delivered');
    await deliveries.resend({ deliveryIds: [_id] });
    const relayed = await webhooks.relay({ keyId, since });
    expect(relayed.deliveries).toHaveLength(2);
    expect(relayed.after).toBeNull();
    for (const { headers, body } of relayed.deliveries) {
      expect(headers['X-SVC-Signature']).toBe(contractSignature(body, secretOf(system, keyId)));
      new Webhook(secretOf(system, keyId)).verify(body, headers);
    }
  });

  it('relay returns 250 deliveries in pages of 100', async () => {
    const system = await createSystem({ worker: false });
    const keyId = system.key('https://partner.example/');
    const { webhooks } = adminOf(system);
    const { until: since } = await webhooks.relay({ keyId });
    await system.publish(Array.from({ length: 250 }, () => draft(keyId)));
    const seen = new Set<string>();
    const pages: number[] = [];
    for (let after: string | null | undefined; after !== null; ) {
      const page = await webhooks.relay({ keyId, since, ...(after ? { after } : {}) });
      for (const { deliveryId } of page.deliveries) seen.add(deliveryId);
      pages.push(page.deliveries.length);
      after = page.after;
    }
    expect([pages, seen.size]).toEqual([[100, 100, 50], 250]);
  });
});
