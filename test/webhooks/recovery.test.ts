import type { Filter } from 'mongodb';
import { describe, expect, it } from 'vitest';
import type { Delivery } from '../../server/webhooks/delivery/delivery.ts';
import type { Endpoint } from '../../server/webhooks/delivery/endpoint.ts';
import type { Parts } from '../../server/webhooks/webhooks.ts';
import { createReceiver } from '../harness/receiver.ts';
import { manualClock } from '../harness/server.ts';
import { createSystem, draft, type System, until } from './system.ts';

const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const ended = (system: System, status: Delivery['status'] = 'delivered') =>
  until(() => stored(system).findOne({ status }));
const createRecoveringReceiver = (times: number) =>
  createReceiver((count, _request, response) => response.writeHead(count > times ? 200 : 503).end());

/** Makes the first `times` calls of a delivery store method fail. */
function failing(method: 'insert' | 'record' | 'lease', times = 1) {
  let calls = 0;
  return ({ deliveries, ...parts }: Parts): Parts => {
    const original = deliveries[method] as (...given: unknown[]) => Promise<unknown>;
    const wrapped = (...given: unknown[]) => {
      calls += 1;
      return calls > times ? original(...given) : Promise.reject(new Error(`${method} failed`));
    };
    return { ...parts, deliveries: { ...deliveries, [method]: wrapped } };
  };
}

it.each<[what: string, change: (now: number) => object, isWork: boolean]>([
  ['is due within 30 s, and may lack its job', (now) => ({ nextAttemptAt: new Date(now + 29_000) }), true],
  ['is due later', (now) => ({ nextAttemptAt: new Date(now + 31_000) }), false],
  [
    'is leased by a process that ended',
    (now) => ({ status: 'in_flight', lease: { token: 'one', until: new Date(now - 1) } }),
    true,
  ],
  [
    'is leased by a process that runs',
    (now) => ({ status: 'in_flight', lease: { token: 'one', until: new Date(now + 1) } }),
    false,
  ],
  [
    'keeps responses that have to be removed',
    (now) => ({ status: 'delivered', forgetAnswersAt: new Date(now - 1) }),
    true,
  ],
  ['has ended', () => ({ status: 'delivered' }), false],
])('the query before a sweep finds whether a delivery %s', async (_what, change, isWork) => {
  const clock = manualClock();
  const system = await createSystem({ worker: false, clock });
  await system.publish([draft(system.key('https://partner.example/'))]);
  await stored(system).updateOne({}, { $set: change(clock.now()) });
  const { reads = [] } = system.sweep.look?.() ?? {};
  const looks = reads.filter(({ collection }) => collection === 'deliveries');
  const found = looks.map(({ filter }) => stored(system).countDocuments(filter as Filter<Delivery>));
  expect(Math.max(...(await Promise.all(found)))).toBe(isWork ? 1 : 0);
});

describe('deliveries after a crash', () => {
  it('repeat an attempt that was running, after its lease has ended, with the same number and body', async () => {
    const receiver = await createReceiver();
    const clock = manualClock();
    const system = await createSystem({ clock });
    const keyId = system.key(receiver.url);
    const elsewhere = await createSystem({ db: system.db, worker: false, clock });
    await elsewhere.publish([draft(keyId)]);
    const now = new Date(clock.now());
    const [delivery] = await stored(system).find().toArray();
    const lease = { token: 'of a process that died', now, until: new Date(now.getTime() + 1_000) };
    expect(await system.deliveries.lease([delivery?._id ?? ''], lease)).toHaveLength(1);
    await system.sweep.sweep();
    expect(receiver.received).toHaveLength(0);
    clock.advance(1_001);
    await system.sweep.sweep();

    const { attempts } = await ended(system);
    expect(attempts).toMatchObject([
      { attempt: 1, trigger: 'event', error: 'interrupted' },
      { attempt: 1, trigger: 'recovery', status: 204 },
    ]);
    expect(receiver.received).toHaveLength(1);
  });

  it.each([
    ['is off', (): Endpoint => ({ state: 'off', reason: 'no_url' })],
    [
      'cannot be read',
      (): Endpoint => {
        throw new Error('away');
      },
    ],
  ])(
    'keep the result of the retry if the first attempt resumes after its lease and finds that the endpoint %s',
    async (_what, late) => {
      const receiver = await createReceiver();
      const clock = manualClock();
      let thaw = () => {};
      const frozen = new Promise<void>((resolve) => {
        thaw = resolve;
      });
      let reads = 0;
      const system: System = await createSystem({
        clock,
        async endpoint(keyId) {
          reads += 1;
          if (reads > 1) return system.endpoints.get(keyId) ?? late();
          await frozen;
          return late();
        },
      });
      await system.publish([draft(system.key(receiver.url))]);
      await until(() => reads === 1);
      clock.advance(60_000);
      await system.sweep.sweep();
      const recorded = await ended(system);
      thaw();
      await system.stop();
      expect(await stored(system).findOne()).toEqual(recorded);
      expect(recorded.attempts).toMatchObject([{ error: 'interrupted' }, { status: 204 }]);
    },
  );

  it('are stored by a second publication of their event if the first publication failed to store them', async () => {
    const receiver = await createReceiver();
    const system = await createSystem({ wrap: failing('insert') });
    const event = draft(system.key(receiver.url));
    await expect(system.publish([event])).rejects.toThrow('insert failed');
    await system.publish([event]);
    await ended(system);
    expect(await system.db.collection('events').countDocuments()).toBe(1);
    expect(receiver.received).toHaveLength(1);
  });

  it('are sent by the sweep if the jobs that should send them were deleted', async () => {
    const receiver = await createReceiver();
    const publisher = await createSystem({ worker: false });
    await publisher.publish([draft(publisher.key(receiver.url))]);
    await until(() => publisher.db.collection('jobs').findOne());
    await publisher.db.collection('jobs').deleteMany({});
    const sender = await createSystem({ db: publisher.db, endpoints: publisher.endpoints });
    await sender.sweep.sweep();
    await ended(sender);
    expect(receiver.received).toHaveLength(1);
  });

  it('get a new job from the sweep, for their due second, if the jobs of their retries are deleted', async () => {
    const receiver = await createRecoveringReceiver(1);
    const system = await createSystem({ retryDelays: [20_000] });
    const jobs = system.db.collection('jobs');
    await system.publish([draft(system.key(receiver.url))]);
    const { nextRunAt } = await until(() => jobs.findOne());
    await jobs.deleteMany({});
    await system.sweep.sweep();
    expect(await jobs.find().toArray()).toMatchObject([{ nextRunAt }]);
  });

  it('get no second job from a sweep while a process has the first one locked until its time', async () => {
    const receiver = await createRecoveringReceiver(1);
    const system = await createSystem({ retryDelays: [20_000] });
    const jobs = system.db.collection('jobs');
    await system.publish([draft(system.key(receiver.url))]);
    await until(() => jobs.findOne());
    await jobs.updateOne({}, { $set: { lockedAt: new Date() } });
    await system.sweep.sweep();
    expect(await jobs.countDocuments()).toBe(1);
  });

  it('are retried at the same time as planned, even if the process restarts in between', async () => {
    const receiver = await createRecoveringReceiver(1);
    const before = await createSystem({ retryDelays: [1_000, 1_000] });
    const keyId = before.key(receiver.url);
    await before.publish([draft(keyId)]);
    await until(() => stored(before).findOne({ attempt: 2 }));
    await before.stop();
    const after = await createSystem({ db: before.db, endpoints: before.endpoints });
    const { attempts } = await ended(after);
    expect(attempts[1]?.dueAt).toEqual(attempts[0]?.nextAttemptAt);
    expect(attempts[1]?.at.getTime()).toBeGreaterThanOrEqual(
      attempts[1]?.dueAt.getTime() ?? Number.POSITIVE_INFINITY,
    );
  });
});

describe('a short database failure', () => {
  it('causes no second attempt if storing the result fails twice: the result is stored later', async () => {
    const receiver = await createReceiver();
    const system = await createSystem({ wrap: failing('record', 2) });
    await system.publish([draft(system.key(receiver.url))]);
    expect((await ended(system)).attempts).toHaveLength(1);
    expect(receiver.received).toHaveLength(1);
  });

  it('causes no lost delivery if leasing it fails once: it is sent afterwards', async () => {
    const receiver = await createReceiver();
    const system = await createSystem({ wrap: failing('lease') });
    await system.publish([draft(system.key(receiver.url))]);
    await ended(system);
    expect(receiver.received).toHaveLength(1);
  });

  it('causes no counted attempt if reading the endpoint fails once: the delivery then succeeds with its first attempt', async () => {
    const receiver = await createReceiver();
    let reads = 0;
    const system: System = await createSystem({
      endpoint: async (keyId) => {
        reads += 1;
        if (reads === 1) throw new Error('away');
        return system.endpoints.get(keyId) ?? { state: 'off', reason: 'no_url' };
      },
    });
    await system.publish([draft(system.key(receiver.url))]);
    expect((await ended(system)).attempts).toHaveLength(1);
  });
});

describe('two sending processes', () => {
  it('make each attempt exactly once, and none before its due time', async () => {
    const receiver = await createReceiver((_count, request, response) =>
      response.writeHead(request.headers['x-svc-attempt'] === '3' ? 200 : 503).end(),
    );
    const one = await createSystem({ retryDelays: [400, 400] });
    const other = await createSystem({ db: one.db, endpoints: one.endpoints, retryDelays: [400, 400] });
    const keys = [1, 2, 3].map((path) => one.key(`${receiver.url}/${path}`));
    const drafts = Array.from({ length: 30 }, (_, at) => draft(keys[at % 3] ?? ''));
    await Promise.all([one.publish(drafts), other.publish(drafts)]);
    await until(async () => {
      await Promise.all([one.sweep.sweep(), other.sweep.sweep()]);
      return (await stored(one).countDocuments({ status: 'delivered' })) === 30;
    });

    const rows = (await stored(one).find().toArray()).flatMap(({ attempts }) => attempts);
    expect(rows).toHaveLength(90);
    expect(receiver.received).toHaveLength(90);
    for (const { at, dueAt } of rows) expect(at.getTime()).toBeGreaterThanOrEqual(dueAt.getTime());
  });

  it.each([
    ['behind', -700],
    ['ahead', 700],
  ])(
    "make a retry not before its due time on the database's clock if their own clock is 700 ms %s",
    async (_, offset) => {
      const receiver = await createRecoveringReceiver(1);
      const system = await createSystem({
        clock: { now: () => Date.now() + offset },
        retryDelays: [600, 300],
      });
      await system.publish([draft(system.key(receiver.url))]);
      const { attempts } = await ended(system);
      const due = attempts[0]?.nextAttemptAt?.getTime() ?? Number.POSITIVE_INFINITY;
      expect((receiver.received[1]?.at ?? 0) + offset).toBeGreaterThanOrEqual(due);
    },
  );
});

describe('a stop of the sender', () => {
  it('waits until eight running attempts have ended, and starts no more', async () => {
    const answers: (() => void)[] = [];
    const receiver = await createReceiver((_count, _request, response) => answers.push(() => response.end()));
    const system = await createSystem();
    await system.publish(Array.from({ length: 8 }, () => draft(system.key(receiver.url))));
    await until(() => answers.length === 8);
    const keyId = [...system.endpoints.keys()][0] ?? '';
    const stopped = system.stop();
    await system.publish([draft(keyId)]);
    for (const answer of answers) answer();
    await stopped;
    expect(await stored(system).countDocuments({ status: 'delivered' })).toBe(8);
    expect(await stored(system).countDocuments({ status: 'pending' })).toBe(1);
    expect(receiver.received).toHaveLength(8);
  });
});
