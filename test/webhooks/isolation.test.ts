import { describe, expect, it } from 'vitest';
import { randomId } from '../../server/platform/ids.ts';
import { createLogger } from '../../server/platform/telemetry/logging.ts';
import type { Delivery, Leased, StoredEvent } from '../../server/webhooks/delivery/delivery.ts';
import { createDispatcher } from '../../server/webhooks/delivery/dispatcher.ts';
import { createDueCache } from '../../server/webhooks/delivery/due-cache.ts';
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
    await until(() => network.waiting.length === 150);
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

  it('get the free slot if the endpoint before them in the queue has no due deliveries left', async () => {
    const due: Record<string, string[]> = { a: ['a1', 'a2', 'a3'], k: ['k1'], y: ['y1'] };
    const sent: string[] = [];
    const ends = new Map<string, () => void>();
    const { notify } = createDispatcher({
      limits: { perEndpoint: 4, pool: 4 },
      logger: createLogger('silent'),
      async lease({ keyId, retries }) {
        const ids = due[keyId]?.splice(0, retries) ?? [];
        const leased = ids.map((_id) => ({ _id, keyId, lane: 'retry' }) as Leased);
        return { leased, tried: ids.length, more: (due[keyId]?.length ?? 0) > 0 };
      },
      async sendAttempt({ _id }) {
        sent.push(_id);
        await new Promise<void>((end) => ends.set(_id, end));
      },
    });
    const settled = () => new Promise((resolve) => setTimeout(resolve, 10));
    for (const keyId of ['a', 'k', 'y']) {
      notify([keyId]);
      await settled();
    }
    expect(sent).toEqual(['a1', 'a2', 'a3']);
    due['k'] = []; // another process has leased it
    notify(['k']);
    await settled();
    ends.get('a1')?.();
    await settled();
    expect(sent).toEqual(['a1', 'a2', 'a3', 'y1']);
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
  const due: Record<'first' | 'retry', string[]> = { first: [], retry: [] };
  const fill = (firsts: number, retries: number) => {
    due.first = Array.from({ length: firsts }, (_, at) => `first ${at}`);
    due.retry = Array.from({ length: retries }, (_, at) => `retry ${at}`);
  };
  const fresh = () => {
    const dueCache = createDueCache(async (_keyId, lane, limit) => due[lane].slice(0, limit));
    dueCache.invalidate('key');
    return dueCache;
  };
  const capacity = { keyId: 'key', slots: 5, retries: 4, prefer: 'first' as const };

  it('are leased alternately: first, retry, first, and so on', async () => {
    fill(60, 60);
    const taken = await fresh().take(capacity);
    expect(taken).toEqual({ ids: ['first 0', 'retry 0', 'first 1', 'retry 1', 'first 2'], more: true });
    expect((await fresh().take({ ...capacity, slots: 1, prefer: 'retry' })).ids).toEqual(['retry 0']);
    expect((await fresh().take({ ...capacity, slots: 1, retries: 0, prefer: 'retry' })).ids).toEqual([
      'first 0',
    ]);
    fill(0, 60);
    expect((await fresh().take(capacity)).ids).toHaveLength(4);
    fill(60, 0);
    expect((await fresh().take(capacity)).ids).toHaveLength(5);
  });

  it('are each leased exactly once in several groups: 70 first attempts and 7 retries', async () => {
    fill(70, 7);
    const dueCache = fresh();
    const all: string[] = [];
    for (let more = true; more; ) {
      const taken = await dueCache.take(capacity);
      for (const id of taken.ids)
        due[id.startsWith('first') ? 'first' : 'retry'] = due[
          id.startsWith('first') ? 'first' : 'retry'
        ].filter((one) => one !== id);
      all.push(...taken.ids);
      ({ more } = taken);
    }
    expect(new Set(all).size).toBe(77);
    expect(all).toHaveLength(77);
  });

  it('are leased even if they become due while the database is being queried for due deliveries', async () => {
    fill(0, 0);
    const dueCache = createDueCache(async (_keyId, lane) => {
      dueCache.add('key', lane, `${lane} new`);
      return [];
    });
    dueCache.invalidate('key');
    expect((await dueCache.take(capacity)).ids.toSorted()).toEqual(['first new', 'retry new']);
    expect((await dueCache.take(capacity)).more).toBe(true);
  });

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
