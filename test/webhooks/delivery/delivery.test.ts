import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { contractSignature } from '../../../server/webhooks/egress/signature.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { createSystem, draft, type System, until } from '../system.ts';

const secretOf = (system: System, keyId: string): string => {
  const endpoint = system.endpoints.get(keyId);
  if (endpoint?.state !== 'on') throw new Error('no such key');
  return endpoint.secret;
};

const ended = (system: System, status: Delivery['status']) =>
  until(() => system.db.collection<Delivery>('deliveries').findOne({ status }));

describe('a delivery', () => {
  it('is sent once, with the headers and signatures of the contract, even if its event is published twice', async () => {
    const receiver = await createReceiver();
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    const event = draft(keyId);
    await system.publish([event]);
    await system.publish([event]);
    const delivery = await ended(system, 'delivered');

    expect(receiver.received).toHaveLength(1);
    const headers = receiver.received[0]?.headers ?? {};
    const body = receiver.received[0]?.body ?? '';
    expect(JSON.parse(body)).toEqual({
      event: 'enrollment.created',
      event_id: delivery.eventId,
      partner_id: event.partnerId,
      ...event.fields,
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'SVC-Webhooks/test',
      'x-svc-event': 'enrollment.created',
      'x-svc-event-id': delivery.eventId,
      'x-svc-attempt': '1',
      'x-svc-signature': contractSignature(body, secretOf(system, keyId)),
    });
    new Webhook(secretOf(system, keyId)).verify(body, headers as Record<string, string>);
    expect(delivery.attempts).toEqual([
      {
        attempt: 1,
        trigger: 'event',
        dueAt: expect.any(Date),
        at: expect.any(Date),
        durationMs: expect.any(Number),
        status: 204,
        url: receiver.url,
        address: `127.0.0.1:${receiver.port}`,
        secretVersion: 1,
        signature: headers['x-svc-signature'],
      },
    ]);
  });

  it('is signed with the secret at the time of the attempt, so that a rotation applies to retries', async () => {
    const receiver = await createReceiver((count, _request, response) =>
      response.writeHead(count > 1 ? 200 : 503).end(),
    );
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    const old = secretOf(system, keyId);
    await system.publish([draft(keyId)]);
    await until(() => receiver.received.length === 1);
    system.endpoints.set(keyId, {
      state: 'on',
      url: receiver.url,
      mode: 'test',
      secret: 'whsec_bmV3',
      secretVersion: 2,
    });
    const { attempts } = await ended(system, 'delivered');

    const signatures = receiver.received.map(({ headers }) => headers['x-svc-signature']);
    const body = receiver.received[0]?.body ?? '';
    expect(signatures).toEqual([contractSignature(body, old), contractSignature(body, 'whsec_bmV3')]);
    expect(attempts.map(({ secretVersion }) => secretVersion)).toEqual([1, 2]);
    expect(receiver.received.map(({ headers }) => headers['x-svc-attempt'])).toEqual(['1', '2']);
  });

  it('has the URL of each attempt, also after the endpoint has another one', async () => {
    const failing = await createReceiver((_count, _request, response) => response.writeHead(503).end());
    const receiver = await createReceiver();
    const system = await createSystem();
    const keyId = system.key(failing.url);
    await system.publish([draft(keyId)]);
    await until(() => failing.received.length === 1);
    system.endpoints.set(keyId, {
      ...{ state: 'on', url: receiver.url, mode: 'test', secret: 'whsec_bmV3', secretVersion: 2 },
    });
    const { attempts } = await ended(system, 'delivered');
    expect(attempts.map(({ url }) => url)).toEqual([failing.url, receiver.url]);
  });

  it.each([
    ['no_url', { reason: 'no_url' }],
    ['key_revoked', { reason: 'key_revoked' }],
    ['partner_suspended', { reason: 'partner_suspended' }],
    // Lists of builds before this reason read the other one.
    ['partner_closed', { reason: 'partner_suspended', exact: 'partner_closed' }],
  ] as const)(
    'is skipped without an attempt, and its event is stored, if the endpoint is off for the reason %s',
    async (reason, skipped) => {
      const system = await createSystem();
      system.endpoints.set('key_off', { state: 'off', reason });
      await system.publish([draft('key_off')]);
      expect(await ended(system, 'skipped')).toMatchObject({ skipped, attempts: [] });
      expect(await system.db.collection('events').countDocuments()).toBe(1);
    },
  );

  it('is skipped for a localhost URL if the server does not allow localhost', async () => {
    const receiver = await createReceiver();
    const system = await createSystem({ localhostAllowed: false });
    await system.publish([draft(system.key(receiver.url))]);
    expect(await ended(system, 'skipped')).toMatchObject({
      ...{ skipped: { reason: 'localhost_not_allowed' }, endedAt: expect.any(Date) },
    });
    expect(receiver.connections()).toBe(0);
  });

  it('is sent by a worker process if the process that publishes it is no worker', async () => {
    const receiver = await createReceiver();
    const sender = await createSystem();
    const publisher = await createSystem({ db: sender.db, worker: false });
    await publisher.publish([draft(sender.key(receiver.url))]);
    await ended(sender, 'delivered');
    expect(receiver.received).toHaveLength(1);
  });

  it('leaves the signing secret in no record, job or log line', async () => {
    const lines: unknown[] = [];
    const note = (...line: unknown[]) => lines.push(...line);
    const logger = Object.assign(createLogger('silent'), { info: note, warn: note, error: note });
    const receiver = await createReceiver((_count, _request, response) => response.writeHead(500).end());
    const system = await createSystem({ logger });
    const keyId = system.key(receiver.url);
    await system.publish([draft(keyId)]);
    await until(() => system.db.collection('jobs').findOne());
    const jobs = await system.db.collection('jobs').find().toArray();
    await ended(system, 'failed');
    const records = await Promise.all(
      ['events', 'deliveries'].map((name) => system.db.collection(name).find().toArray()),
    );
    expect(lines.length).toBeGreaterThan(0);
    expect(inspect([lines, jobs, records], { depth: null })).not.toContain(secretOf(system, keyId).slice(6));
  });
});
