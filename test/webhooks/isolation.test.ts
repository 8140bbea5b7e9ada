import { describe, expect, it } from 'vitest';
import { randomId } from '../../server/platform/ids.ts';
import type { Delivery, StoredEvent } from '../../server/webhooks/delivery/delivery.ts';
import { composeDelivery, composeEvent } from '../../server/webhooks/delivery/events.ts';
import type { Post } from '../../server/webhooks/egress/post.ts';
import type { Parts } from '../../server/webhooks/webhooks.ts';
import { createReceiver } from '../harness/receiver.ts';
import { createSystem, draft, idKey, until } from './system.ts';

/** Replaces the network. Requests to `hangs` stay unanswered until they are released. */
function hanging(hangs: (url: string) => boolean) {
  const inFlight = new Map<string, number>();
  const most = new Map<string, number>();
  const waiting: (() => void)[] = [];
  const post: Post = async ({ url }) => {
    const now = (inFlight.get(url) ?? 0) + 1;
    inFlight.set(url, now);
    most.set(url, Math.max(most.get(url) ?? 0, now));
    if (hangs(url)) await new Promise<void>((resume) => waiting.push(resume));
    inFlight.set(url, now - 1);
    return hangs(url) ? { error: 'timeout', durationMs: 1 } : { status: 200, durationMs: 1 };
  };
  const release = () => {
    for (const resume of waiting.splice(0)) resume();
  };
  return { wrap: (parts: Parts): Parts => ({ ...parts, post }), most, release, waiting };
}

describe('endpoints of one process', () => {
  it('are sent five attempts at a time each, so 50 endpoints that hang do not delay 50 others', async () => {
    const network = hanging((url) => url.includes('hangs'));
    const system = await createSystem({ wrap: network.wrap });
    const deliveries = system.db.collection<Delivery>('deliveries');
    const stuck = Array.from({ length: 50 }, (_, at) => system.key(`https://hangs-${at}.example/`));
    const healthy = Array.from({ length: 50 }, (_, at) => system.key(`https://healthy-${at}.example/`));
    await system.publish(stuck.flatMap((keyId) => Array.from({ length: 8 }, () => draft(keyId))));
    await until(() => network.waiting.length === 250);
    await system.publish(healthy.flatMap((keyId) => Array.from({ length: 8 }, () => draft(keyId))));
    await until(async () => (await deliveries.countDocuments({ status: 'delivered' })) === 400);

    expect(network.waiting).toHaveLength(250);
    expect(await deliveries.countDocuments({ status: 'in_flight' })).toBe(250);
    expect(await deliveries.countDocuments({ status: 'pending' })).toBe(150);
    expect(Math.max(...network.most.values())).toBe(5);
    network.release();
    // On a slow machine, retries wait too by then.
    await until(() => network.waiting.length >= 150);
    // Repeated until the stop has ended, because a slow machine starts retries before it.
    const timer = setInterval(network.release, 20);
    await system.stop();
    clearInterval(timer);
  });

  it('are all retried after one sweep, although 400 endpoints exceed the limit of simultaneous attempts', async () => {
    const { wrap } = hanging(() => false);
    const system = await createSystem({ wrap });
    const at = new Date(Date.now() - 5_000);
    const events = Array.from({ length: 400 }, (_, n) =>
      composeEvent(draft(system.key(`https://partner-${n}.example/`), at), idKey),
    );
    const retries = events.map((event) => ({
      ...composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt: at, now: at }),
      attempt: 2,
      lane: 'retry' as const,
      trigger: 'schedule' as const,
    }));
    await system.db.collection<StoredEvent>('events').insertMany(events);
    const deliveries = system.db.collection<Delivery>('deliveries');
    await deliveries.insertMany(retries);
    await system.sweep.sweep();
    await until(async () => (await deliveries.countDocuments({ status: 'delivered' })) === 400);
  });

  it('get attempts in turn, even if the attempts to all of them hang and use up the common limit', async () => {
    const network = hanging((url) => url.includes('hangs'));
    const system = await createSystem({ wrap: network.wrap, limits: { perEndpoint: 5, pool: 8 } });
    const keys = Array.from({ length: 6 }, (_, at) => system.key(`https://hangs-${at}.example/`));
    await system.publish(keys.flatMap((keyId) => Array.from({ length: 5 }, () => draft(keyId))));
    const seen = new Set<string>();
    const deliveries = system.db.collection<Delivery>('deliveries');
    await until(async () => {
      if (network.waiting.length === 8) network.release();
      for (const url of network.most.keys()) seen.add(url);
      if ((await deliveries.countDocuments({ 'attempts.0': { $exists: true } })) < 30) return false;
      return true;
    });
    expect(seen.size).toBe(6);
    const timer = setInterval(network.release, 20);
    await system.stop();
    clearInterval(timer);
  });
});

describe('first attempts and retries of one endpoint', () => {
  it('are all delivered when the receiver recovers', async () => {
    let down = true;
    const receiver = await createReceiver((_count, _request, response) =>
      response.writeHead(down ? 500 : 200).end(),
    );
    const system = await createSystem({ retryDelays: [1500, 300] });
    const keyId = system.key(receiver.url);
    await system.publish(Array.from({ length: 20 }, () => draft(keyId)));
    await until(() => receiver.received.length === 20);
    down = false;
    await system.publish(Array.from({ length: 20 }, () => draft(keyId)));
    const deliveries = system.db.collection<Delivery>('deliveries');
    await until(async () => (await deliveries.countDocuments({ status: 'delivered' })) === 40);
    expect(receiver.received).toHaveLength(60);
  });
});
