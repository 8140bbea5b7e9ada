import { describe, expect, it } from 'vitest';
import { randomId } from '../../../server/platform/ids.ts';
import type { Delivery, Leased } from '../../../server/webhooks/delivery/delivery.ts';
import { createDeliveryStore } from '../../../server/webhooks/delivery/delivery-store.ts';
import { composeDelivery, composeEvent } from '../../../server/webhooks/delivery/events.ts';
import { preparedDatabase } from '../../harness/database.ts';
import { draft, idKey } from '../system.ts';

const at = new Date('2026-07-01T12:00:00Z');
const lease = (token: string) => ({ token, now: at, until: new Date(at.getTime() + 60_000) });

/** A store with deliveries of each key. `dueIn` is in seconds from `at`. */
async function storeWith(
  waiting: Record<string, { count: number; dueIn: number; lane?: 'first' | 'retry' }>,
) {
  const { db } = await preparedDatabase();
  const deliveries = Object.entries(waiting).flatMap(([keyId, { count, dueIn, lane = 'first' }]) => {
    const dueAt = new Date(at.getTime() + dueIn * 1000);
    const event = composeEvent(draft(keyId, at), idKey);
    return Array.from({ length: count }, () => ({
      ...composeDelivery(event, { id: randomId('delivery'), trigger: 'event', dueAt, now: at }),
      lane,
    }));
  });
  const collection = db.collection<Delivery>('deliveries');
  await collection.insertMany(deliveries);
  return { ...createDeliveryStore(db), collection, ids: deliveries.map(({ _id }) => _id) };
}

describe('API keys with due deliveries', () => {
  it('are all found, even if one key has 4,500 due deliveries', async () => {
    const store = await storeWith({
      key_a: { count: 5, dueIn: -1, lane: 'retry' },
      key_b: { count: 4_500, dueIn: -60 },
      key_c: { count: 3, dueIn: 1 },
      key_d: { count: 1, dueIn: 0 },
      key_e: { count: 1, dueIn: 1, lane: 'retry' },
      key_f: { count: 1, dueIn: -1 },
    });
    const due = await store.dueByKey(at);
    expect([...due.byKey]).toEqual(['key_a', 'key_b', 'key_d', 'key_f'].map((key) => [key, undefined]));
  });

  it('are all found, even if 4,100 keys have due deliveries', async () => {
    const keys = Array.from({ length: 4_100 }, (_, n) => `key_${String(n).padStart(4, '0')}`);
    const store = await storeWith(Object.fromEntries(keys.map((key) => [key, { count: 1, dueIn: -1 }])));
    expect([...(await store.dueByKey(at)).byKey.keys()]).toEqual(keys);
  });

  it('are returned with the ids of each lane, the longest due first, if few are due', async () => {
    const store = await storeWith({
      key_b: { count: 1, dueIn: -1 },
      key_a: { count: 1, dueIn: -2, lane: 'retry' },
      key_c: { count: 1, dueIn: 1 },
    });
    const later = composeDelivery(composeEvent(draft('key_b', at), idKey), {
      ...{ id: randomId('delivery'), trigger: 'event', dueAt: new Date(at.getTime() - 5_000), now: at },
    });
    await store.collection.insertOne(later);
    const [ofB = '', ofA = ''] = store.ids;
    expect(await store.dueByKey(at)).toEqual({
      count: 3,
      byKey: new Map([
        ['key_b', { first: [later._id, ofB], retry: [] }],
        ['key_a', { first: [], retry: [ofA] }],
      ]),
    });
  });
});

it('the due deliveries of an endpoint are those of the lane whose time has come, the longest due first', async () => {
  const store = await storeWith({ key_a: { count: 1, dueIn: 0 }, key_b: { count: 1, dueIn: -1 } });
  await store.collection.updateMany({}, { $set: { keyId: 'key_a' } });
  const [now = '', before = ''] = store.ids;
  const due = (seconds: number, limit: number) =>
    store.due('key_a', 'first', { now: new Date(at.getTime() + seconds * 1000), limit });
  expect(await due(0, 9)).toEqual([before, now]);
  expect(await due(-1, 9)).toEqual([before]);
  expect(await due(-2, 9)).toEqual([]);
  expect(await due(0, 1)).toEqual([before]);
  expect(await store.due('key_a', 'retry', { now: at, limit: 9 })).toEqual([]);
});

describe('seconds with due deliveries', () => {
  it('are found for the next 30 s; overdue deliveries count in the first second', async () => {
    const store = await storeWith({
      key_a: { count: 2, dueIn: -5 },
      key_b: { count: 2, dueIn: 0.5 },
      key_c: { count: 2, dueIn: 3 },
      key_d: { count: 2, dueIn: 60 },
    });
    const inSeconds = (seconds: number) => new Date(at.getTime() + seconds * 1000);
    expect(await store.dueSeconds(at, inSeconds(30))).toEqual([at, inSeconds(3)]);
    const dueBefore = (end: Date, limit = 1) => store.dueTimes(new Date(0), end, limit);
    expect(await dueBefore(inSeconds(-5))).toEqual([]);
    expect(await dueBefore(at)).toEqual([inSeconds(-5)]);
    const [early, soon] = [inSeconds(-5), inSeconds(0.5)];
    expect(await dueBefore(inSeconds(1), 9)).toEqual([early, early, soon, soon]);
  });
});

describe('a lease of a delivery', () => {
  it('is given to one process only, and only for a pending delivery', async () => {
    const store = await storeWith({ key_a: { count: 2, dueIn: -1 } });
    const [ended = ''] = store.ids;
    await store.collection.updateOne({ _id: ended }, { $set: { status: 'failed' } });
    const leased = await store.lease(store.ids, lease('one'));
    expect(leased.map(({ _id }) => _id)).toEqual(store.ids.slice(1));
    expect(await store.lease(store.ids, lease('two'))).toEqual([]);
  });

  it("is needed to record the result of an attempt: with another process's lease, the delivery stays in_flight", async () => {
    const store = await storeWith({ key_a: { count: 1, dueIn: -1 } });
    const [delivery] = await store.lease(store.ids, lease('one'));
    if (!delivery) throw new Error('nothing was leased');
    const [row] = delivery.attempts;
    if (!row) throw new Error('a lease without its attempt');
    const ending = { delivery, row, verdict: { status: 'delivered' as const }, at };
    const status = async () => (await store.collection.findOne({ _id: delivery._id }))?.status;
    await store.collection.updateOne({ _id: delivery._id }, { $set: { 'lease.token': 'two' } });
    await store.record([ending]);
    expect(await status()).toBe('in_flight');
    await store.collection.updateOne({ _id: delivery._id }, { $set: { 'lease.token': 'one' } });
    await store.record([ending]);
    expect(await status()).toBe('delivered');
  });
});

it('deliveries that are inserted under a lease are found again after a lost reply, those of another lease are not', async () => {
  const { db } = await preparedDatabase();
  const store = createDeliveryStore(db);
  const leased = (id: string, token: string) => {
    const event = composeEvent(draft('key_a', at), idKey);
    const delivery = composeDelivery(event, { id, trigger: 'event', dueAt: at, now: at });
    return { ...delivery, status: 'in_flight' as const, lease: lease(token), body: '{}' } as Leased;
  };
  const [one, two, three] = [randomId('delivery'), randomId('delivery'), randomId('delivery')];
  await store.insertLeased([leased(two, 'other')], lease('other'));
  const documents = [leased(one, 'this'), leased(two, 'this')];
  expect([...(await store.insertLeased(documents, lease('this')))]).toEqual([one]);
  const again = await store.insertLeased([...documents, leased(three, 'this')], lease('this'));
  expect([...again].toSorted()).toEqual([one, three].toSorted());
});

describe('a lease that is given back', () => {
  const later = new Date(at.getTime() + 5_000);

  it('leaves no attempt row; the delivery is late only if that is said', async () => {
    const store = await storeWith({ key_a: { count: 1, dueIn: -1 } });
    const found = () => store.collection.findOne({});
    const overdue = { since: at, reason: 'secret_unreadable' as const };
    for (const said of [overdue, undefined]) {
      const [delivery] = await store.lease(store.ids, { ...lease('one'), now: later });
      if (!delivery) throw new Error('nothing was leased');
      await store.release(delivery, later, said);
      expect(await found()).toMatchObject({ status: 'pending', nextAttemptAt: later, attempts: [] });
      expect((await found())?.overdue).toEqual(said);
      expect(await found()).not.toHaveProperty('lease');
    }
  });

  it('changes nothing if another process has the lease', async () => {
    const store = await storeWith({ key_a: { count: 1, dueIn: -1 } });
    const [delivery] = await store.lease(store.ids, lease('one'));
    if (!delivery) throw new Error('nothing was leased');
    const ofOther = { ...delivery, lease: { ...delivery.lease, token: 'two' } };
    await store.release(ofOther, later);
    await store.skip(ofOther, 'no_url', later);
    expect(await store.collection.findOne({})).toMatchObject({ status: 'in_flight', attempts: [{}] });
  });

  it('is removed with its attempt row if the delivery is skipped', async () => {
    const store = await storeWith({ key_a: { count: 1, dueIn: -1 } });
    const [delivery] = await store.lease(store.ids, lease('one'));
    if (!delivery) throw new Error('nothing was leased');
    await store.skip(delivery, 'no_url', later);
    const skipped = await store.collection.findOne({});
    expect(skipped).toMatchObject({ status: 'skipped', attempts: [], endedAt: later });
    expect(skipped).not.toHaveProperty('lease');
  });
});

describe('results that are recorded together', () => {
  const later = new Date(at.getTime() + 1_000);
  const rowOf = ({ attempts }: Leased, answer: string) => {
    const [row] = attempts;
    if (!row) throw new Error('a lease without its attempt');
    return { ...row, status: 200, answer };
  };

  it('are each stored in their own delivery, as they are, also if a response looks like an expression', async () => {
    const store = await storeWith({ key_a: { count: 4, dueIn: -1 } });
    const [one = '', two = '', ...others] = store.ids;
    const leased = [
      ...(await store.lease([one, two], lease('one'))),
      ...(await store.lease(others, lease('two'))),
    ];
    const verdicts = [
      { status: 'delivered' as const },
      { status: 'failed' as const },
      { status: 'pending' as const, attempt: 2, nextAttemptAt: later },
    ];
    await store.record(
      leased.slice(0, 3).flatMap((delivery, n) => {
        const verdict = verdicts[n];
        return verdict ? [{ delivery, row: rowOf(delivery, `$_id ${n}`), verdict, at: later }] : [];
      }),
    );
    const recorded = await store.collection.find().toArray();
    const stored = leased.map(({ _id }) => recorded.find((delivery) => delivery._id === _id));
    const forgetAnswersAt = new Date(at.getTime() + 7 * 86_400_000);
    const ending = { endedAt: later, forgetAnswersAt };
    expect(stored).toMatchObject([
      { status: 'delivered', ...ending, attempts: [{ attempt: 1, status: 200, answer: '$_id 0' }] },
      { status: 'failed', ...ending, attempts: [{ answer: '$_id 1' }] },
      {
        status: 'pending',
        attempt: 2,
        lane: 'retry',
        trigger: 'schedule',
        nextAttemptAt: later,
        forgetAnswersAt,
      },
      { status: 'in_flight', lease: { token: 'two' }, attempts: [{ attempt: 1 }] },
    ]);
    for (const delivery of stored.slice(0, 3)) {
      expect(delivery).not.toHaveProperty('lease');
      expect(delivery).not.toHaveProperty('result');
      expect(delivery?.attempts).toHaveLength(1);
    }
  });

  it('store only the one whose lease holds, if two are of the same delivery', async () => {
    const store = await storeWith({ key_a: { count: 1, dueIn: -1 } });
    const [old] = await store.lease(store.ids, lease('old'));
    await store.recover(new Date(at.getTime() + 60_000));
    const [present] = await store.lease(store.ids, {
      ...lease('present'),
      now: new Date(at.getTime() + 60_000),
    });
    if (!old || !present) throw new Error('nothing was leased');
    await store.record([
      { delivery: old, row: rowOf(old, 'old'), verdict: { status: 'failed' }, at: later },
      { delivery: present, row: rowOf(present, 'present'), verdict: { status: 'delivered' }, at: later },
    ]);
    expect(await store.collection.findOne()).toMatchObject({
      status: 'delivered',
      attempts: [{ error: 'interrupted' }, { answer: 'present' }],
    });
  });
});

it('composeEvent derives the same id from the same cause at any time', () => {
  const [one, two] = [at, new Date(at.getTime() + 5)].map(
    (when) => composeEvent({ ...draft('key_a', when), cause: ['ses_1'] }, idKey)._id,
  );
  expect(one).toBe(two);
});
