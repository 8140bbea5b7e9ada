import { describe, expect, it } from 'vitest';
import type { JobView } from '../../../contracts/admin/jobs.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { adminOf, createSystem, draft, type System, until } from '../system.ts';

const hour = 3_600_000;
const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const rejects = (call: Promise<unknown>, code: string) =>
  expect(call).rejects.toMatchObject({ cause: { code } });
const later = (ms: number) => new Date(Date.now() + ms);

/** Fails the first `failures` requests, then answers 200. */
const createRecoveringReceiver = (failures: number) =>
  createReceiver((count, _request, response) => response.writeHead(count > failures ? 200 : 500).end());

/** `count` deliveries whose second attempts are due together `delay` ms after the first, and their job. */
async function waitingRetries(count: number, delay: number) {
  const receiver = await createRecoveringReceiver(count);
  const system = await createSystem({ retryDelays: [delay, hour] });
  const keyId = system.key(receiver.url);
  await system.publish(Array.from({ length: count }, () => draft(keyId)));
  const waiting = { status: 'pending', attempt: 2 } as const;
  await until(async () => (await stored(system).countDocuments(waiting)) === count);
  return { system, receiver, keyId, ...(await moveToOneSecond(system, delay)) };
}

/** Moves all waiting attempts into one second, as if they had failed together. */
async function moveToOneSecond(system: System, delay: number): Promise<{ job: JobView; due: Date }> {
  const { jobs } = adminOf(system);
  const due = new Date(Math.floor((Date.now() + delay) / 1000) * 1000 + 500);
  await stored(system).updateMany({ status: 'pending' }, { $set: { nextAttemptAt: due } });
  await system.db.collection('jobs').deleteMany({});
  await system.context.due.retryAt(due);
  const [job] = await jobs.list({});
  if (!job) throw new Error('no job was made');
  return { job, due };
}

describe('jobs', () => {
  it('show the attempts that wait for the job, and which process has locked the job while it runs', async () => {
    const { system, job, due, keyId } = await waitingRetries(2, hour);
    const { jobs } = adminOf(system);
    expect(job).toMatchObject({ name: 'webhook.attempts', state: 'scheduled', wakes: 2 });
    expect(job).toMatchObject({ lockedAt: null, lockedBy: null });
    const detail = await jobs.show({ jobId: job.id });
    expect(detail.deliveryIds).toHaveLength(2);
    expect(detail.attempts).toEqual(
      detail.deliveryIds.map((deliveryId) => ({
        deliveryId,
        event: 'enrollment.created',
        attempt: 2,
        keyId,
        mode: 'test',
        nextAttemptAt: due.toISOString(),
      })),
    );
    await system.db.collection('jobs').updateMany({}, { $set: { lockedAt: new Date() } });
    expect(await jobs.show({ jobId: job.id })).toMatchObject({
      state: 'locked',
      lockedBy: expect.stringContaining(`:${process.pid}:`),
    });
  });
});

describe('jobs run', () => {
  it.each([
    ['an hour', hour],
    ['6 s', 6_000],
  ])('sends the waiting attempts immediately, although they are due only in %s', async (_, delay) => {
    const { system, receiver, job, due } = await waitingRetries(2, delay);
    const { jobs, deliveries } = adminOf(system);
    expect(await jobs.run({ jobId: job.id })).toMatchObject({ id: job.id, wakes: 2 });
    await until(async () => (await stored(system).countDocuments({ status: 'delivered' })) === 2);
    expect(receiver.received).toHaveLength(4);
    for (const { attempts } of await deliveries.list({})) {
      expect(attempts).toMatchObject([{ trigger: 'event' }, { attempt: 2, trigger: 'run', status: 200 }]);
      expect(Date.parse(attempts[1]?.at ?? '')).toBeLessThan(due.getTime() - 500);
    }
    await until(async () => (await jobs.list({})).length === 0);
  });

  it('sends waiting attempts of a locked job, and answers conflict if none waits, and not_found for an unknown job', async () => {
    const { system, job } = await waitingRetries(1, hour);
    await system.db.collection('jobs').updateMany({}, { $set: { lockedAt: new Date() } });
    const { jobs } = adminOf(system);
    await jobs.run({ jobId: job.id });
    await until(() => stored(system).findOne({ status: 'delivered' }));
    await rejects(jobs.run({ jobId: job.id }), 'conflict');
    await rejects(jobs.run({ jobId: '0'.repeat(24) }), 'not_found');
  });

  it('sends the waiting attempts in a worker process, if the called process is no worker', async () => {
    const { system, job } = await waitingRetries(1, hour);
    const other = await createSystem({ db: system.db, worker: false });
    await adminOf(other).jobs.run({ jobId: job.id });
    await until(() => stored(system).findOne({ status: 'delivered' }));
  });
});

describe('jobs cancel', () => {
  it('cancels the deliveries that wait for the job, and deletes the job', async () => {
    const { system, receiver, job } = await waitingRetries(3, hour);
    const { jobs, deliveries } = adminOf(system);
    const [first] = (await jobs.show({ jobId: job.id })).deliveryIds;
    await deliveries.reschedule({ deliveryId: first ?? '', inSeconds: 7_200 });
    const cancelled = await jobs.cancel({ jobId: job.id });
    expect(cancelled).toMatchObject({ id: job.id, wakes: 2 });
    expect(cancelled.deliveryIds).toHaveLength(2);
    const ended = await deliveries.list({ status: 'skipped' });
    expect(ended.map(({ id }) => id).toSorted()).toEqual(cancelled.deliveryIds.toSorted());
    expect(ended[0]).toMatchObject({ skipped: 'cancelled', nextAttemptAt: null });
    expect(await deliveries.show({ deliveryId: first ?? '' })).toMatchObject({ status: 'pending' });
    expect((await jobs.list({})).map(({ id }) => id)).not.toContain(job.id);
    expect(receiver.received).toHaveLength(3);
    await rejects(jobs.cancel({ jobId: job.id }), 'not_found');
  });

  it('cancels no attempt for a failed job, because a failed job sends none', async () => {
    const { system, job } = await waitingRetries(1, hour);
    await system.db
      .collection('jobs')
      .updateMany({}, { $set: { nextRunAt: null, lockedAt: null, failReason: 'no database' } });
    const { jobs } = adminOf(system);
    expect(await jobs.show({ jobId: job.id })).toMatchObject({ state: 'failed', wakes: 0, attempts: [] });
    expect(await jobs.cancel({ jobId: job.id })).toMatchObject({ wakes: 0, deliveryIds: [] });
    expect(await stored(system).countDocuments({ status: 'pending' })).toBe(1);
  });

  it('answers conflict if the job is running and no attempt waits for it any more', async () => {
    const { system, job } = await waitingRetries(1, hour);
    await system.db.collection('jobs').updateMany({}, { $set: { lockedAt: new Date() } });
    const { jobs } = adminOf(system);
    expect(await jobs.cancel({ jobId: job.id })).toMatchObject({ wakes: 1 });
    await rejects(jobs.cancel({ jobId: job.id }), 'conflict');
  });
});

describe('jobs reschedule', () => {
  it('moves the job with its attempts to the new time', async () => {
    const { system, job } = await waitingRetries(2, hour);
    const { jobs, deliveries } = adminOf(system);
    const at = later(2 * hour);
    const moved = await jobs.reschedule({ jobId: job.id, at: at.toISOString() });
    expect(moved).toMatchObject({ id: job.id, wakes: 2, state: 'scheduled' });
    expect(await jobs.list({})).toMatchObject([{ id: job.id, wakes: 2, nextRunAt: moved.nextRunAt }]);
    for (const { nextAttemptAt } of await deliveries.list({})) expect(nextAttemptAt).toBe(at.toISOString());
    await jobs.reschedule({ jobId: job.id, inSeconds: 1 });
    await until(async () => (await stored(system).countDocuments({ status: 'delivered' })) === 2);
    const [delivery] = await deliveries.list({ limit: 1 });
    expect(delivery?.attempts[1]).toMatchObject({ attempt: 2, trigger: 'reschedule' });
  });

  it('moves the attempts even if a process is running the job, and answers conflict if none waits any more', async () => {
    const { system, job } = await waitingRetries(1, hour);
    await system.db.collection('jobs').updateMany({}, { $set: { lockedAt: new Date() } });
    const { jobs } = adminOf(system);
    await jobs.reschedule({ jobId: job.id, inSeconds: 1 });
    await until(() => stored(system).findOne({ status: 'delivered' }));
    await rejects(jobs.reschedule({ jobId: job.id, inSeconds: 1 }), 'conflict');
  });

  it('answers `refused` to a time in the past or 31 days ahead; `at` and inSeconds together, or neither, is an error', async () => {
    const { system, job } = await waitingRetries(1, hour);
    const { jobs } = adminOf(system);
    for (const at of [later(-5_000), later(31 * 24 * hour)])
      await rejects(jobs.reschedule({ jobId: job.id, at: at.toISOString() }), 'refused');
    for (const when of [{}, { at: later(hour).toISOString(), inSeconds: 5 }])
      await expect(jobs.reschedule({ jobId: job.id, ...when })).rejects.toThrow('either at or inSeconds');
    expect(await jobs.show({ jobId: job.id })).toMatchObject({ wakes: 1, nextRunAt: job.nextRunAt });
  });
});

describe('deliveries reschedule', () => {
  it('moves the next attempt of a waiting delivery, and answers conflict for a delivered one', async () => {
    const { system, receiver } = await waitingRetries(1, hour);
    const { deliveries, jobs, events } = adminOf(system);
    const [{ id, eventId } = { id: '', eventId: '' }] = await deliveries.list({});
    const at = later(2 * hour).toISOString();
    expect(await deliveries.reschedule({ deliveryId: id, at })).toMatchObject({
      status: 'pending',
      nextAttemptAt: at,
    });
    expect((await jobs.list({})).map(({ wakes }) => wakes)).toEqual([0, 1]);
    for (const wrong of [later(-5_000), later(31 * 24 * hour)])
      await rejects(deliveries.reschedule({ deliveryId: id, at: wrong.toISOString() }), 'refused');
    await deliveries.reschedule({ deliveryId: id, inSeconds: 0 });
    await until(() => stored(system).findOne({ status: 'delivered' }));
    expect(receiver.received).toHaveLength(2);
    expect((await events.why({ eventId })).story.join('\n')).toContain('rescheduled by an operator');
    await rejects(deliveries.reschedule({ deliveryId: id, inSeconds: 0 }), 'conflict');
    await rejects(deliveries.reschedule({ deliveryId: 'dlv_none', inSeconds: 0 }), 'not_found');
  });
});
