import { describe, expect, it } from 'vitest';
import type { Delivery, Leased } from '../../server/webhooks/delivery.ts';
import type { Post } from '../../server/webhooks/post.ts';
import type { Parts } from '../../server/webhooks/webhooks.ts';
import { createReceiver } from './receiver.ts';
import { createSystem, draft, until } from './system.ts';

/** Replaces the network: what is sent to `hangs` stays in flight until released. */
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

describe('endpoints that hang', () => {
  it('hold five slots each, and keep no other endpoint waiting', async () => {
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
    await until(() => network.waiting.length === 150);
    network.release();
  });

  it('wait for the pool in turn when it is full', async () => {
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
  const lanes = (leased: readonly Leased[]) => leased.map(({ lane }) => lane);

  it('do not starve each other', async () => {
    const system = await createSystem({ worker: false });
    const keyId = system.key('https://partner.example/');
    await system.publish(Array.from({ length: 10 }, () => draft(keyId)));
    const deliveries = system.db.collection<Delivery>('deliveries');
    const some = await deliveries.find().limit(5).toArray();
    await deliveries.updateMany({ _id: { $in: some.map(({ _id }) => _id) } }, { $set: { lane: 'retry' } });

    const lease = (room: { slots: number; retries: number; prefer: 'first' | 'retry' }) => {
      const now = new Date(Date.now() + 1000);
      const token = Math.random().toString();
      return system.deliveries.lease([{ keyId, ...room }], {
        token,
        now,
        until: new Date(now.getTime() + 20_000),
      });
    };
    const [all] = await lease({ slots: 5, retries: 4, prefer: 'first' });
    expect(lanes(all?.leased ?? []).toSorted()).toEqual(['first', 'first', 'first', 'retry', 'retry']);
    expect(all?.more).toBe(true);
    const [one] = await lease({ slots: 1, retries: 1, prefer: 'retry' });
    expect(lanes(one?.leased ?? [])).toEqual(['retry']);
    const [none] = await lease({ slots: 1, retries: 0, prefer: 'retry' });
    expect(lanes(none?.leased ?? [])).toEqual(['first']);
  });

  it('both reach a receiver that recovers', async () => {
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
