import { describe, expect, it } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import type { Limits } from '../../../server/webhooks/delivery/backlog.ts';
import type { Delivery, StoredEvent } from '../../../server/webhooks/delivery/delivery.ts';
import { composeDelivery, composeEvent } from '../../../server/webhooks/delivery/events.ts';
import type { Parts } from '../../../server/webhooks/webhooks.ts';
import { adminOf, createSystem, draft, idKey, until } from '../system.ts';

/** The feature with receivers that do not answer until they are released. */
async function hanging(limits: Limits) {
  const waiting: (() => void)[] = [];
  const wrap = (parts: Parts): Parts => ({
    ...parts,
    async post() {
      await new Promise<void>((resume) => waiting.push(resume));
      return { status: 200, durationMs: 1 };
    },
  });
  const system = await createSystem({ wrap, limits });
  const deliveries = system.db.collection<Delivery>('deliveries');
  const release = async () => {
    for (const resume of waiting.splice(0)) resume();
    return (await deliveries.countDocuments({ status: 'delivered' })) === (await deliveries.countDocuments());
  };
  return { system, deliveries, waiting, release };
}

describe('the reason why a first attempt waits', () => {
  it('is endpoint_busy, in lists and in the timeline, if all slots of its endpoint are in use', async () => {
    const { system, waiting, release } = await hanging({ perEndpoint: 2, pool: 10 });
    const keyId = system.key('https://partner.example/');
    await system.publish([draft(keyId), draft(keyId), draft(keyId)]);
    await until(() => waiting.length === 2);
    const { deliveries, events } = adminOf(system);
    const listed = await deliveries.list({ keyId });
    expect(listed.filter((one) => one.waiting === 'endpoint_busy')).toMatchObject([
      { status: 'pending', attempts: [] },
    ]);
    expect(listed.filter((one) => one.waiting === null)).toMatchObject([
      { status: 'in_flight' },
      { status: 'in_flight' },
    ]);
    const only = await deliveries.list({ status: 'waiting' });
    expect(only).toHaveLength(1);
    const { id = '', eventId = '' } = only[0] ?? {};
    expect(await deliveries.show({ deliveryId: id })).toMatchObject({ waiting: 'endpoint_busy' });
    expect((await events.why({ eventId })).story.at(-1)).toMatch(
      /^Attempt 1 of 3 has been due for [\d.]+ s and waits: as many attempts to its URL are under way/,
    );
    await until(release);
    expect(await deliveries.list({ status: 'waiting' })).toEqual([]);
  });

  it('is server_busy if other endpoints use all slots of the process', async () => {
    const { system, waiting, release } = await hanging({ perEndpoint: 2, pool: 4 });
    const [one, other, last] = [1, 2, 3].map((n) => system.key(`https://partner-${n}.example/`));
    await system.publish([one, one, other, other].map((keyId) => draft(keyId ?? '')));
    await until(() => waiting.length === 4);
    await system.publish([draft(last ?? '')]);
    expect(await adminOf(system).deliveries.list({ keyId: last })).toMatchObject([
      { status: 'pending', waiting: 'server_busy' },
    ]);
    await until(release);
  });

  it('is endpoint_busy also if another process uses the slots of its endpoint', async () => {
    const { system, waiting, release } = await hanging({ perEndpoint: 1, pool: 10 });
    const keyId = system.key('https://partner.example/');
    await system.publish([draft(keyId), draft(keyId)]);
    await until(() => waiting.length === 1);
    const other = await createSystem({ db: system.db, worker: false, limits: { perEndpoint: 1, pool: 10 } });
    const reasons = (await adminOf(other).deliveries.list({})).map((one) => one.waiting);
    expect(reasons.toSorted()).toEqual(['endpoint_busy', null]);
    await until(release);
  });
});

describe('the reason why a due attempt waits', () => {
  const age = (system: Awaited<ReturnType<typeof createSystem>>, ms: number) =>
    system.db
      .collection<Delivery>('deliveries')
      .updateMany({}, { $set: { nextAttemptAt: new Date(Date.now() - ms) } });

  it('is not_taken_up if it has been due for over two seconds and no process has sent it', async () => {
    const system = await createSystem({ worker: false });
    await system.publish([draft(system.key('https://partner.example/'))]);
    const waiting = async () => (await adminOf(system).deliveries.list({})).map((one) => one.waiting);
    await age(system, 500);
    expect(await waiting()).toEqual([null]);
    await age(system, 3_000);
    expect(await waiting()).toEqual(['not_taken_up']);
    await age(system, -60_000);
    expect(await waiting()).toEqual([null]);
  });

  it('is no_worker, in lists, in the timeline and as the cause of the endpoint, if no process that sends is running', async () => {
    const system = await createSystem({ worker: false });
    const keyId = system.key('https://partner.example/');
    await system.publish([draft(keyId)]);
    const { deliveries, events, webhooks } = adminOf(system, 'owner', async () => false);
    const waiting = async () => (await deliveries.list({})).map((one) => one.waiting);
    await age(system, 500);
    expect(await waiting()).toEqual([null]);
    await age(system, 3_000);
    expect(await waiting()).toEqual(['no_worker']);
    const [{ eventId = '' } = {}] = await deliveries.list({});
    const text = 'no process with the worker role is running';
    expect((await events.why({ eventId })).story.at(-1)).toContain(`waits: ${text}`);
    expect(await webhooks.health({ keyId })).toMatchObject([{ cause: text }]);
  });

  it('is endpoint_busy if it is a retry, and retries use all slots that they may use', async () => {
    const { system, deliveries, waiting, release } = await hanging({ perEndpoint: 2, pool: 10 });
    const keyId = system.key('https://partner.example/');
    const at = new Date(Date.now() - 100);
    const events = [1, 2].map(() => composeEvent(draft(keyId, at), idKey));
    await system.db.collection<StoredEvent>('events').insertMany(events);
    const first = (event: StoredEvent) =>
      composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt: at, now: at });
    await deliveries.insertMany(events.map((event) => ({ ...first(event), attempt: 2, lane: 'retry' })));
    await system.sweep.sweep();
    await until(() => waiting.length === 1);
    const reasons = (await adminOf(system).deliveries.list({})).map((one) => one.waiting);
    expect(reasons.toSorted()).toEqual(['endpoint_busy', null]);
    await until(release);
  });
});
