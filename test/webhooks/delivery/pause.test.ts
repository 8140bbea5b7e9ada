import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { adminOf, createSystem, draft, type System, until } from '../system.ts';

const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const eventIds = (receiver: { received: { headers: Record<string, unknown> }[] }) =>
  receiver.received.map(({ headers }) => String(headers['x-svc-event-id']));

function pause(system: System, keyId: string, pausedUntil?: Date): void {
  const endpoint = system.endpoints.get(keyId);
  if (endpoint?.state !== 'on') throw new Error('no endpoint');
  const { pausedUntil: _before, ...rest } = endpoint;
  system.endpoints.set(keyId, pausedUntil ? { ...rest, pausedUntil } : rest);
}

/** One attempt of an endpoint at a time, so that requests arrive in the order of the schedule. */
const inOrder = { limits: { perEndpoint: 1, pool: 10 } };
const later = () => new Date(Date.now() + 3_600_000);

/** Events of a key, published one after another during the pause. */
async function publishMany(system: System, keyId: string, count: number): Promise<string[]> {
  for (let made = 0; made < count; made += 1) await system.publish([draft(keyId)]);
  const waiting = await stored(system).find({ keyId }).sort({ createdAt: 1, _id: 1 }).toArray();
  return waiting.map(({ eventId }) => eventId);
}

describe('a paused endpoint', () => {
  it('gets no delivery; its deliveries keep their due time and show the pause as the reason of waiting', async () => {
    const receiver = await createReceiver();
    const system = await createSystem(inOrder);
    const [paused, other] = [system.key(receiver.url), system.key(receiver.url)];
    pause(system, paused, later());
    const [first = ''] = await publishMany(system, paused, 3);
    await system.publish([draft(other)]);
    await until(() => receiver.received.length === 1);
    await system.sweep.sweep();
    await until(async () => (await stored(system).countDocuments({ status: 'pending' })) === 3);
    const waiting = await stored(system).find({ keyId: paused }).toArray();
    expect(waiting.map(({ attempts, attempt, trigger }) => [attempts, attempt, trigger])).toEqual(
      Array.from({ length: 3 }, () => [[], 1, 'event']),
    );
    for (const one of waiting) expect(one.nextAttemptAt).toEqual(one.createdAt);
    const { deliveries, events } = adminOf(system);
    const shown = await deliveries.show({ deliveryId: waiting[0]?._id ?? '' });
    expect(shown.waiting).toBe('paused');
    expect((await events.why({ eventId: first })).story.at(-1)).toContain(
      'the webhooks of its key are paused',
    );
  });

  it('has no use of its secret until an attempt is signed, after the pause', async () => {
    const receiver = await createReceiver();
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    const endpoint = system.endpoints.get(keyId);
    let uses = 0;
    function noteUse(): void {
      uses += 1;
    }
    if (endpoint?.state === 'on') system.endpoints.set(keyId, { ...endpoint, noteUse });
    pause(system, keyId, later());
    await system.publish([draft(keyId)]);
    await until(async () => (await stored(system).countDocuments({ status: 'pending' })) === 1);
    expect(uses).toBe(0);
    pause(system, keyId);
    await system.resume(keyId);
    await until(() => receiver.received.length === 1);
    expect(uses).toBe(1);
  });

  it('gets deliveries from the end of the pause on, although the pause is still stored', async () => {
    const receiver = await createReceiver();
    const system = await createSystem();
    const keyId = system.key(receiver.url);
    pause(system, keyId, new Date(Date.now() - 1_000));
    await system.publish([draft(keyId)]);
    await until(() => receiver.received.length === 1);
  });

  it('gets each waiting delivery once, in order, when an operator ends the pause', async () => {
    const receiver = await createReceiver();
    const system = await createSystem(inOrder);
    const keyId = system.key(receiver.url);
    pause(system, keyId, later());
    const expected = await publishMany(system, keyId, 12);
    await system.sweep.sweep();
    pause(system, keyId);
    await system.resume(keyId);
    await until(() => receiver.received.length === 12);
    expect(eventIds(receiver)).toEqual(expected);
    await until(async () => (await stored(system).countDocuments({ status: 'delivered' })) === 12);
    expect(receiver.received).toHaveLength(12);
  });

  it('gets the waiting deliveries in their order when the set time of the pause has passed', async () => {
    const receiver = await createReceiver();
    const system = await createSystem(inOrder);
    const keyId = system.key(receiver.url);
    const end = new Date(Date.now() + 1_500);
    pause(system, keyId, end);
    const expected = await publishMany(system, keyId, 4);
    await until(() => receiver.received.length === 4);
    expect(eventIds(receiver)).toEqual(expected);
    expect(receiver.received[0]?.at).toBeGreaterThanOrEqual(end.getTime());
  });

  it('gets the waiting deliveries from a process that starts after the end of the pause', async () => {
    const receiver = await createReceiver();
    const first = await createSystem(inOrder);
    const keyId = first.key(receiver.url);
    const end = new Date(Date.now() + 1_000);
    pause(first, keyId, end);
    const expected = await publishMany(first, keyId, 5);
    await first.stop();
    await until(() => Date.now() > end.getTime());
    expect(receiver.received).toHaveLength(0);
    const next = await createSystem({ ...inOrder, db: first.db, endpoints: first.endpoints });
    await next.sweep.sweep();
    await until(() => receiver.received.length === 5);
    expect(eventIds(receiver)).toEqual(expected);
    expect(await stored(next).countDocuments({ status: 'delivered', 'attempts.1': { $exists: true } })).toBe(
      0,
    );
  });
});
