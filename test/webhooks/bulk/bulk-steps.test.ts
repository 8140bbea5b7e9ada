import { expect, it } from 'vitest';
import type { StartBulk } from '../../../contracts/admin/bulk.ts';
import { randomId } from '../../../server/platform/ids.ts';
import { type BulkJob, nextPart } from '../../../server/webhooks/bulk/bulk-job.ts';
import { createBulkSteps } from '../../../server/webhooks/bulk/bulk-steps.ts';
import type { Delivery, StoredEvent } from '../../../server/webhooks/delivery/delivery.ts';
import { adminOf, createSystem, draft, type System } from '../system.ts';

/** Near the present time, because the database deletes what has expired. It is 100 ms after a full second. */
const begin = Math.floor(Date.now() / 1_000) * 1_000 + 100;
const since = '2026-01-01T00:00:00Z';
const day = 86_400_000;

/** A system that sends nothing, whose clock stands still until `takeSteps` sets it to the time of the next step. */
async function stillSystem() {
  const clock = { time: begin, now: () => clock.time };
  const system = await createSystem({ worker: false, clock });
  const keyId = system.key('http://localhost:1/');
  const step = createBulkSteps(system.context);

  /** Takes all steps of a job, each at the time when it is due. @returns the last part, and the times */
  async function takeAll({ _id, parts, ...job }: BulkJob) {
    const times: number[] = [];
    let part = nextPart(parts);
    while (part && !part.finished) {
      clock.time = Math.max(clock.time, part.nextAt.getTime());
      times.push(clock.time - begin);
      part = await step({ ...job, _id, parts: [part] }, part);
    }
    return { part, times };
  }
  /** @returns the times of the steps, in milliseconds after the start */
  const takeSteps = async (job: BulkJob): Promise<number[]> => (await takeAll(job)).times;
  const lastPart = async (job: BulkJob) => (await takeAll(job)).part;

  return { system, clock, keyId, takeSteps, lastPart };
}

const deliveriesOf = (system: System) => system.db.collection<Delivery>('deliveries');
const eventsOf = (system: System) => system.db.collection<StoredEvent>('events');

/** Stores deliveries of a day ago, one of each second. */
async function store(system: System, keyId: string, count: number, status: Delivery['status']) {
  const early = (n: number) => new Date(begin - day + n * 1_000);
  await system.publish(Array.from({ length: count }, (_, n) => draft(keyId, early(n))));
  const ofStatus =
    status === 'pending'
      ? { $set: { nextAttemptAt: new Date(begin + day) } }
      : { $set: { status, endedAt: early(count) }, $unset: { nextAttemptAt: '' as const } };
  await deliveriesOf(system).updateMany({ keyId }, ofStatus);
  // A delivery is as old as its event.
  const events = await eventsOf(system).find({ keyId }).toArray();
  await deliveriesOf(system).bulkWrite(
    events.map(({ _id: eventId, createdAt }) => ({
      updateOne: { filter: { eventId }, update: { $set: { createdAt } } },
    })),
  );
}

/** Starts a job as an operator does. @returns the stored job */
async function start(system: System, wanted: Partial<StartBulk> & Pick<StartBulk, 'action' | 'filter'>) {
  const { job } = await adminOf(system).bulk.start({ rate: 20, ...wanted });
  return system.context.bulk.get(job?.id ?? '');
}

/** When the deliveries that a job made are due, in milliseconds after the start. */
async function dueTimes(system: System, bulkId: string): Promise<number[]> {
  const made = await deliveriesOf(system).find({ bulkId }).sort({ nextAttemptAt: 1 }).toArray();
  return made.map(({ nextAttemptAt }) => (nextAttemptAt?.getTime() ?? 0) - begin);
}

const last = <T>(values: readonly T[]): T | undefined => values.at(-1);

it('a bulk resend makes deliveries due at its rate, in multiples of 250 ms and never in the past', async () => {
  const { system, keyId, takeSteps } = await stillSystem();
  await store(system, keyId, 45, 'failed');
  const job = await start(system, { action: 'resend', filter: { keyId, since } });
  const times = await takeSteps(job);
  const dues = await dueTimes(system, job._id);
  // 20 a second are one in 50 ms. The clock of the test begins 100 ms after a multiple of 250 ms.
  const exact = Array.from({ length: 45 }, (_, n) => n * 50);
  expect(dues).toEqual(exact.map((ms) => Math.max(0, Math.floor((ms + 100) / 250) * 250 - 100)));
  // A step is a second ahead of the deliveries that it makes.
  expect(times).toEqual([0, 0, 1_000]);
});

it('two bulk resends of one key share its rate', async () => {
  const { system, keyId, takeSteps } = await stillSystem();
  await store(system, keyId, 40, 'failed');
  const half = new Date(begin - day + 20_000).toISOString();
  const early = await start(system, { action: 'resend', filter: { keyId, since, until: half } });
  const late = await start(system, { action: 'resend', filter: { keyId, since: half } });
  await takeSteps(early);
  await takeSteps(late);
  expect(last(await dueTimes(system, early._id))).toBeLessThan(1_000);
  const dues = await dueTimes(system, late._id);
  expect(dues[0]).toBeGreaterThanOrEqual(900);
  expect(last(dues)).toBeGreaterThanOrEqual(1_900);
});

it('pending deliveries are moved at the rate of the job, also by a second step', async () => {
  const { system, keyId, takeSteps } = await stillSystem();
  await store(system, keyId, 250, 'pending');
  const at = begin + 7_200_000;
  const job = await start(system, {
    ...{ action: 'reschedule', filter: { keyId }, rate: 60 },
    at: new Date(at).toISOString(),
  });
  expect(await takeSteps(job)).toHaveLength(2);
  const moved = await deliveriesOf(system).find({ keyId }).sort({ createdAt: 1 }).toArray();
  const seconds = moved.map(({ nextAttemptAt }) => ((nextAttemptAt?.getTime() ?? 0) - at) / 1000);
  expect(seconds).toEqual(Array.from({ length: 250 }, (_, n) => Math.floor(n / 60)));
});

it('a replay sends an event without a delivery, and keeps its events as long as the new deliveries', async () => {
  const { system, keyId, takeSteps } = await stillSystem();
  await store(system, keyId, 2, 'delivered');
  const [first] = await deliveriesOf(system).find().sort({ createdAt: 1 }).toArray();
  await deliveriesOf(system).deleteOne({ _id: first?._id ?? '' });
  const job = await start(system, { action: 'replay', filter: { keyId, since } });
  await takeSteps(job);
  const made = await deliveriesOf(system).find({ bulkId: job._id }).toArray();
  expect(made).toHaveLength(2);
  expect(made.filter(({ resendOf }) => resendOf === undefined)).toMatchObject([{ eventId: first?.eventId }]);
  const latest = new Date(Math.max(...made.map(({ purgeAt }) => purgeAt.getTime())));
  expect(await eventsOf(system).countDocuments({ purgeAt: latest })).toBe(2);
});

it('a replay sends the oldest events first, also by a second step', async () => {
  const { system, keyId, takeSteps } = await stillSystem();
  await store(system, keyId, 25, 'delivered');
  const job = await start(system, { action: 'replay', filter: { keyId, since } });
  expect(await takeSteps(job)).toHaveLength(2);
  const made = await deliveriesOf(system).find({ bulkId: job._id }).sort({ nextAttemptAt: 1 }).toArray();
  const events = await eventsOf(system).find().sort({ createdAt: 1 }).toArray();
  const oldest = events.slice(0, 20).map(({ _id }) => _id);
  const sentFirst = made.slice(0, 20).map(({ eventId }) => eventId);
  expect(made).toHaveLength(25);
  expect(sentFirst.sort()).toEqual(oldest.sort());
});

it('a cancellation by filter ends the waiting deliveries of its key, and no others', async () => {
  const { system, keyId, takeSteps } = await stillSystem();
  const otherId = system.key('http://localhost:1/');
  await store(system, keyId, 3, 'pending');
  await store(system, otherId, 2, 'pending');
  await deliveriesOf(system).updateOne({ keyId }, { $set: { status: 'failed' } });
  await takeSteps(await start(system, { action: 'cancel', filter: { keyId } }));
  const statuses = async (id: string) =>
    (await deliveriesOf(system).find({ keyId: id }).toArray()).map(({ status }) => status).sort();
  expect(await statuses(keyId)).toEqual(['failed', 'skipped', 'skipped']);
  expect(await statuses(otherId)).toEqual(['pending', 'pending']);
  const cancelled = await deliveriesOf(system).findOne({ status: 'skipped' });
  expect(cancelled).toMatchObject({ skipped: { reason: 'cancelled' }, endedAt: new Date(begin) });
  expect(cancelled).not.toHaveProperty('nextAttemptAt');
});

it.each(['replay', 'resend'] as const)(
  'a %s of delivered events counts only those that it sends; what comes under way later is left out of the total',
  async (action) => {
    const { system, clock, keyId, lastPart } = await stillSystem();
    await store(system, keyId, 30, 'delivered');
    const [first, ...others] = await deliveriesOf(system).find({ keyId }).sort({ createdAt: 1 }).toArray();
    const underWay = (one: Delivery) => ({
      ...one,
      ...{ _id: randomId('delivery'), status: 'pending' as const, createdAt: new Date(clock.now()) },
    });
    await deliveriesOf(system).insertMany(others.slice(0, 9).map(underWay));
    const filter = { keyId, since, ...(action === 'resend' && { status: 'delivered' as const }) };
    const job = await start(system, { action, filter });
    expect(job).toMatchObject({ total: 21, exact: true });
    clock.time += 1;
    await deliveriesOf(system).insertMany(others.slice(9, 14).map(underWay));
    expect(await lastPart(job)).toMatchObject({ total: 21, done: 16, leftOut: 5, finished: true });
    const made = await deliveriesOf(system).find({ bulkId: job._id }).toArray();
    expect(made.map(({ eventId }) => eventId)).toContain(first?.eventId);
    expect(made).toHaveLength(16);
  },
);

it('a bulk job leaves out at its end what it no longer finds, and raises its total by what it finds besides', async () => {
  const { system, keyId, lastPart } = await stillSystem();
  await store(system, keyId, 3, 'pending');
  const [one, ...others] = await deliveriesOf(system).find({ keyId }).toArray();
  const setStatus = (status: Delivery['status'], ...deliveries: (Delivery | undefined)[]) =>
    deliveriesOf(system).updateMany(
      { _id: { $in: deliveries.map((each) => each?._id ?? '') } },
      { $set: { status } },
    );
  const cancel = await start(system, { action: 'cancel', filter: { keyId } });
  await setStatus('delivered', one);
  expect(await lastPart(cancel)).toMatchObject({ total: 3, done: 2, leftOut: 1 });
  await setStatus('failed', one);
  await setStatus('in_flight', ...others);
  const resend = await start(system, { action: 'resend', filter: { keyId, since } });
  expect(resend.total).toBe(1);
  await setStatus('failed', ...others);
  expect(await lastPart(resend)).toMatchObject({ total: 3, done: 3, leftOut: 0 });
});
