import { describe, expect, it } from 'vitest';
import type { BulkView, StartBulk } from '../../../contracts/admin/bulk.ts';
import { randomId } from '../../../server/platform/ids.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { type BulkJob, nextPart, viewBulkJob } from '../../../server/webhooks/bulk/bulk-job.ts';
import type { Delivery } from '../../../server/webhooks/delivery/delivery.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { adminOf, createSystem, draft, type System, until } from '../system.ts';

const stored = (system: System) => system.db.collection<Delivery>('deliveries');
const jobs = (system: System) => system.db.collection<BulkJob>('bulkJobs');
const since = '2026-01-01T00:00:00Z';
/** The clock of a process for which steps and attempts of the next two seconds are due. */
const ahead = { now: () => Date.now() + 2_000 };
const past = (seconds: number) => new Date(Date.now() - seconds * 1000);

/** Ended deliveries of a key, without automatic attempts. */
async function failedDeliveries(system: System, keyId: string, count: number): Promise<void> {
  const drafts = Array.from({ length: count }, (_, at) => draft(keyId, past(600 - at / 10)));
  await system.publish(drafts);
  const failed = { status: 'failed' as const, createdAt: past(500), endedAt: past(490) };
  await stored(system).updateMany({ keyId }, { $set: failed, $unset: { nextAttemptAt: '', lease: '' } });
}

type Wanted = Partial<StartBulk> & Pick<StartBulk, 'action' | 'filter'>;
const start = (system: System, wanted: Wanted) => adminOf(system).bulk.start({ rate: 100, ...wanted });

async function finished(system: System, bulkId: string): Promise<BulkView> {
  return until(async () => {
    const job = await adminOf(system).bulk.show({ bulkId });
    return job.status === 'done' && job;
  });
}

/** Two processes on one database: `idle` never sends, `worker` does. */
async function twoProcesses() {
  const idle = await createSystem({ worker: false });
  const receiver = await createReceiver();
  const keyId = idle.key(receiver.url);
  const worker = (settings: Parameters<typeof createSystem>[0] = {}) =>
    createSystem({ db: idle.db, endpoints: idle.endpoints, ...settings });
  return { idle, receiver, keyId, worker };
}

describe('a bulk resend', () => {
  it('counts events in a dry run without creating a job; the real run sends each event once and shows its progress', async () => {
    const { idle, receiver, keyId, worker } = await twoProcesses();
    await failedDeliveries(idle, keyId, 60);
    const dry = await start(idle, { action: 'resend', filter: { keyId, since }, dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, total: 60, exact: true, live: 0, keys: 1, job: null });
    expect(await jobs(idle).countDocuments()).toBe(0);
    const { job } = await start(idle, { action: 'resend', filter: { keyId, since } });
    expect(job).toMatchObject({ status: 'running', total: 60, done: 0 });
    await worker();
    const done = await finished(idle, job?.id ?? '');
    expect(done).toMatchObject({
      done: 60,
      leftOut: 0,
      expectedEndAt: null,
      keys: [{ keyId, finished: true }],
    });
    await until(() => receiver.received.length === 60);
    const ids = receiver.received.map(({ headers }) => headers['x-svc-event-id']);
    expect(new Set(ids).size).toBe(60);
  });

  it.each(['resend', 'replay'] as const)(
    'is refused as a %s if nothing is sent to any of its keys; one key that gets events is enough',
    async (action) => {
      const system = await createSystem({ worker: false });
      const [off, on] = [system.key('https://partner.example/'), system.key('https://partner.example/')];
      for (const keyId of [off, on]) await failedDeliveries(system, keyId, 2);
      system.endpoints.set(off, { state: 'off', reason: 'key_revoked' });
      for (const dryRun of [true, false])
        await expect(start(system, { action, filter: { keyId: off, since }, dryRun })).rejects.toThrow(
          `API key ${off} is revoked`,
        );
      expect(await jobs(system).countDocuments()).toBe(0);
      // A replay names one key, a resend may name none.
      const other = action === 'resend' ? { since } : { keyId: on, since };
      const found = await start(system, { action, filter: other, dryRun: true });
      expect(found).toMatchObject(action === 'resend' ? { total: 4, keys: 2 } : { total: 2, keys: 1 });
    },
  );

  it('is not refused as a cancel if its key gets nothing', async () => {
    const system = await createSystem({ worker: false });
    const keyId = system.key('https://partner.example/');
    await system.publish([draft(keyId)]);
    system.endpoints.set(keyId, { state: 'off', reason: 'partner_suspended' });
    const dry = await start(system, { action: 'cancel', filter: { keyId }, dryRun: true });
    expect(dry).toMatchObject({ total: 1 });
  });

  it('counts an event with two failed deliveries once, and leaves out an event that another delivery has delivered', async () => {
    const { idle, receiver, keyId, worker } = await twoProcesses();
    await failedDeliveries(idle, keyId, 3);
    const [one, two] = await stored(idle).find().sort({ _id: 1 }).toArray();
    if (!one || !two) throw new Error('no deliveries');
    const again = { ...one, _id: randomId('delivery'), createdAt: past(400) };
    const arrived = { ...two, _id: randomId('delivery'), createdAt: past(400), status: 'delivered' as const };
    await stored(idle).insertMany([again, arrived]);
    const { job, total } = await start(idle, { action: 'resend', filter: { keyId, since } });
    expect(total).toBe(2);
    await worker();
    expect(await finished(idle, job?.id ?? '')).toMatchObject({ total: 2, done: 2, leftOut: 0 });
    await until(() => receiver.received.length === 2);
    expect(receiver.received.map(({ headers }) => headers['x-svc-event-id'])).not.toContain(two.eventId);
  });

  it('sends each event once if two jobs and two processes resend the same deliveries', async () => {
    const { idle, receiver, keyId, worker } = await twoProcesses();
    await failedDeliveries(idle, keyId, 120);
    const first = await start(idle, { action: 'resend', filter: { keyId, since } });
    const other = await start(idle, { action: 'resend', filter: { keyId, since: '2026-01-02T00:00:00Z' } });
    expect(other.job?.id).not.toBe(first.job?.id);
    await Promise.all([worker(), worker()]);
    await finished(idle, first.job?.id ?? '');
    await finished(idle, other.job?.id ?? '');
    await until(async () => (await stored(idle).countDocuments({ status: 'delivered' })) === 120);
    expect(receiver.received).toHaveLength(120);
    expect(await stored(idle).countDocuments()).toBe(240);
  });

  it('has one job if the same command is given twice', async () => {
    const { idle, keyId } = await twoProcesses();
    await failedDeliveries(idle, keyId, 2);
    const wanted = { action: 'resend' as const, filter: { keyId, since } };
    const [one, two] = await Promise.all([start(idle, wanted), start(idle, wanted)]);
    expect(one.job?.id).toBe(two.job?.id);
    expect([one.repeated, two.repeated].sort()).toEqual([false, true]);
    expect(await jobs(idle).countDocuments()).toBe(1);
  });

  it('has one job if the second command omits a field that is undefined in the first', async () => {
    const { idle, keyId } = await twoProcesses();
    await failedDeliveries(idle, keyId, 2);
    const filter = { keyId, since };
    const first = await start(idle, { action: 'resend', filter: { ...filter, until: undefined } });
    const second = await start(idle, { action: 'resend', filter });
    expect(second).toMatchObject({ repeated: true, job: { id: first.job?.id } });
    expect(await jobs(idle).countDocuments()).toBe(1);
  });

  it('has one job if the end of the time span is given in two forms; a dry run counts although the job runs', async () => {
    const { idle, keyId } = await twoProcesses();
    await failedDeliveries(idle, keyId, 2);
    const filter = { keyId, since };
    const soon = new Date(Math.ceil(Date.now() / 1000) * 1000).toISOString();
    const first = await start(idle, { action: 'resend', filter: { ...filter, until: soon } });
    const sameTime = soon.replace('.000Z', 'Z');
    const second = await start(idle, { action: 'resend', filter: { ...filter, until: sameTime } });
    expect(second).toMatchObject({ repeated: true, job: { id: first.job?.id } });
    const dry = await start(idle, { action: 'resend', filter: { ...filter, until: soon }, dryRun: true });
    expect(dry).toMatchObject({ dryRun: true, repeated: false, total: 2, job: null });
  });

  it('has one job if both calls gave the ends of the time span as seconds back, although the times differ', async () => {
    const { idle, keyId } = await twoProcesses();
    await failedDeliveries(idle, keyId, 2);
    const call = (seconds: number, later: number, end?: number) => {
      const back = (distance: number) => past(distance - later).toISOString();
      const filter = { keyId, since: back(seconds), ...(end !== undefined && { until: back(end) }) };
      return start(idle, { action: 'resend', filter, secondsBack: { since: seconds, until: end } });
    };
    const first = await call(3600, 0);
    expect(await call(3600, 2)).toMatchObject({ repeated: true, job: { id: first.job?.id } });
    expect(await call(7200, 2)).toMatchObject({ repeated: false });
    const ended = await call(3600, 0, 60);
    expect(ended.job?.id).not.toBe(first.job?.id);
    expect(await call(3600, 2, 60)).toMatchObject({ repeated: true, job: { id: ended.job?.id } });
  });

  it('sends each event once, although a process crashed after it created deliveries and before it recorded progress', async () => {
    const { idle, receiver, keyId, worker } = await twoProcesses();
    await failedDeliveries(idle, keyId, 25);
    // A step of 20, and one of five.
    const { job } = await start(idle, { action: 'resend', filter: { keyId, since }, rate: 20 });
    const before = (await jobs(idle).findOne({})) ?? expect.fail('no job');
    const first = await worker();
    await until(async () => (await stored(idle).countDocuments({ bulkId: job?.id ?? '' })) > 0);
    await first.stop();
    // Acts as a process that was killed between its deliveries and the record of its progress.
    await jobs(idle).replaceOne({}, { ...before, nextAt: past(1) });
    const second = await worker({ clock: ahead });
    await second.sweep.sweep();
    expect(await finished(idle, job?.id ?? '')).toMatchObject({ done: 25, leftOut: 0 });
    await until(() => receiver.received.length === 25);
    expect(await stored(idle).countDocuments({ bulkId: job?.id ?? '' })).toBe(25);
  });

  it('waits while the endpoint has a backlog, and creates 20 more deliveries at most after it is cancelled', async () => {
    const idle = await createSystem({ worker: false });
    // Its deliveries stay due, because no attempt ends.
    const hanging = await createReceiver(() => undefined);
    const keyId = idle.key(hanging.url);
    await failedDeliveries(idle, keyId, 90);
    const unsent = { keyId, status: { $in: ['pending', 'in_flight'] } } as const;
    await idle.publish(Array.from({ length: 50 }, () => draft(keyId)));
    await stored(idle).updateMany(unsent, { $set: { lane: 'retry' } });
    const { job } = await start(idle, { action: 'resend', filter: { keyId, since }, rate: 20 });
    const bulkId = job?.id ?? '';
    const { db, endpoints } = idle;
    await createSystem({ db, endpoints, budget: 300, limits: { perEndpoint: 1, pool: 1 } });
    const shown = () => adminOf(idle).bulk.show({ bulkId });
    await until(async () => (await shown()).keys[0]?.waits === 'endpoint_behind');
    expect(await adminOf(idle, 'support').bulk.cancel({ bulkId })).toMatchObject({ status: 'cancelled' });
    await stored(idle).deleteMany(unsent);
    const later = await createSystem({ db, endpoints, clock: ahead });
    await later.sweep.sweep();
    await later.stop();
    expect(await stored(idle).countDocuments({ bulkId })).toBe(0);
    expect((await shown()).status).toBe('cancelled');
  });

  it('cannot start without a start time (error), or with a filter that matches over 500 keys (`refused`)', async () => {
    const system = await createSystem({ worker: false });
    await expect(start(system, { action: 'resend', filter: {} })).rejects.toThrow('needed to resend');
    const template = { ...draft('key'), status: 'failed', createdAt: past(10), eventId: 'evt' };
    await system.db.collection<{ _id: string }>('deliveries').insertMany(
      Array.from({ length: 501 }, (_, at) => ({
        ...template,
        _id: `d${at}`,
        keyId: `k${at}`,
        eventId: `e${at}`,
      })),
    );
    const filter = { since };
    await expect(start(system, { action: 'resend', filter })).rejects.toMatchObject({
      cause: { code: 'refused' },
    });
    await stored(system).deleteOne({ keyId: 'k500' });
    expect(await start(system, { action: 'resend', filter, dryRun: true })).toMatchObject({ keys: 500 });
  });
});

describe('a replay of events', () => {
  it('sends all events of a time span again; a second replay is refused unless it has the flag `again`', async () => {
    const { idle, receiver, keyId, worker } = await twoProcesses();
    await failedDeliveries(idle, keyId, 10);
    const early = await stored(idle).find().limit(4).toArray();
    await stored(idle).updateMany(
      { _id: { $in: early.map(({ _id }) => _id) } },
      { $set: { status: 'delivered' } },
    );
    const filter = { keyId, since };
    const { job, total } = await start(idle, { action: 'replay', filter });
    expect(total).toBe(10);
    await worker();
    await finished(idle, job?.id ?? '');
    await until(() => receiver.received.length === 10);
    const events = await idle.db
      .collection<{ _id: string }>('events')
      .find()
      .sort({ createdAt: 1 })
      .toArray();
    const order = await stored(idle)
      .find({ bulkId: job?.id ?? '' })
      .sort({ 'attempts.dueAt': 1 })
      .toArray();
    expect(new Set(order.map(({ eventId }) => eventId))).toEqual(new Set(events.map(({ _id }) => _id)));
    await expect(start(idle, { action: 'replay', filter })).rejects.toMatchObject({
      cause: { code: 'conflict' },
    });
    const again = await start(idle, { action: 'replay', filter, again: true });
    await finished(idle, again.job?.id ?? '');
    await until(() => receiver.received.length === 20);
  });
});

describe('pending deliveries', () => {
  /** Deliveries of two keys, without automatic attempts. */
  async function pending(count: number) {
    const { idle, keyId, worker } = await twoProcesses();
    const other = idle.key('http://localhost:1/');
    await idle.publish(Array.from({ length: count }, () => draft(keyId)));
    await idle.publish([draft(other)]);
    const later = new Date(Date.now() + 3_600_000);
    await stored(idle).updateMany({}, { $set: { nextAttemptAt: later } });
    return { idle, keyId, other, worker };
  }

  it('are cancelled by a filter for one key, and deliveries of other keys stay pending', async () => {
    const { idle, keyId, other, worker } = await pending(250);
    const { job, total } = await start(idle, { action: 'cancel', filter: { keyId } });
    expect(total).toBe(250);
    await worker();
    expect(await finished(idle, job?.id ?? '')).toMatchObject({ done: 250, leftOut: 0 });
    expect(
      await stored(idle).countDocuments({ keyId, status: 'skipped', 'skipped.reason': 'cancelled' }),
    ).toBe(250);
    expect(await stored(idle).countDocuments({ keyId: other, status: 'pending' })).toBe(1);
  });

  it('cannot be moved to a past time (`refused`)', async () => {
    const { idle, keyId } = await pending(1);
    const over = start(idle, { action: 'reschedule', filter: { keyId }, at: past(10).toISOString() });
    await expect(over).rejects.toMatchObject({ cause: { code: 'refused' } });
  });
});

it('a bulk job is deleted 60 days after its start', async () => {
  const system = await createSystem({ worker: false });
  const keyId = system.key('https://partner.example/');
  await system.publish([draft(keyId)]);
  await start(system, { action: 'cancel', filter: { keyId } });
  const { createdAt, purgeAt } = (await jobs(system).findOne()) ?? expect.fail('no job');
  expect(purgeAt.getTime() - createdAt.getTime()).toBe(60 * 86_400_000);
});

it('a worker without bulk jobs logs no fault', async () => {
  const faults: unknown[] = [];
  const logger = Object.assign(createLogger('silent'), { warn: (fault: unknown) => faults.push(fault) });
  const system = await createSystem({ logger });
  await system.context.announce('bulk_unknown');
  await system.stop();
  expect(faults).toEqual([]);
});

it('a part of a bulk job waits for its endpoint only if the endpoint is behind and the part is not finished', () => {
  const part = { keyId: 'key', partnerId: 'ptr', mode: 'test' as const, total: 1, done: 0, leftOut: 0 };
  const filter = { since, until: new Date().toISOString() };
  const job: BulkJob = {
    ...{ _id: 'bulk_1', createdAt: past(9), purgeAt: past(-9), operatorId: 'opr_1', operatorName: 'Ada' },
    ...{ action: 'resend', filter, rate: 20, status: 'running', total: 3, exact: true },
    ...{ revision: 1, audit: [] },
    parts: [
      { ...part, nextAt: past(1), finished: false, isBehind: true },
      { ...part, nextAt: past(1), finished: true, isBehind: true },
      { ...part, nextAt: past(1), finished: false, isBehind: false },
    ],
  };
  expect(viewBulkJob(job, Date.now()).keys.map(({ waits }) => waits)).toEqual([
    'endpoint_behind',
    null,
    null,
  ]);
});

it('nextPart returns the unfinished part of a bulk job that is due first, and nothing if all are finished', () => {
  const part = { keyId: 'key', partnerId: 'ptr', mode: 'test' as const, total: 1, done: 0, leftOut: 0 };
  const parts = [
    { ...part, nextAt: past(3), finished: true },
    { ...part, nextAt: past(1), finished: false },
    { ...part, nextAt: past(2), finished: false },
  ];
  expect(nextPart(parts)).toBe(parts[2]);
  expect(nextPart(parts.map((one) => ({ ...one, finished: true })))).toBeUndefined();
});
