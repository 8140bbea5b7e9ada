import type { Db } from 'mongodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../server/platform/database/connect.ts';
import { ensureIndexes } from '../../../server/platform/database/schema/indexes.ts';
import {
  createScheduler,
  indexes,
  type Scheduler,
  sweepReads,
} from '../../../server/platform/jobs/scheduler.ts';
import { freshDatabase } from '../../harness/database.ts';

const logger = { warn: () => undefined };

async function setUp(): Promise<{ db: Db; scheduler: Scheduler }> {
  const { db } = await freshDatabase();
  await ensureIndexes(db, indexes);
  const scheduler = createScheduler({ db, logger, processEvery: 50 });
  onTestFinished(() => scheduler.stop());
  return { db, scheduler };
}

/** Resolves to the keys of the runs in order, after `count` runs. */
function recorder(scheduler: Scheduler, name: string, count: number): Promise<string[]> {
  const keys: string[] = [];
  return new Promise((done) => {
    scheduler.define(name, async (key) => {
      keys.push(key);
      if (keys.length === count) done(keys);
    });
  });
}

const soon = (ms: number) => new Date(Date.now() + ms);
const far = () => soon(3_600_000);

describe('the scheduler', () => {
  it('reports how long ago it last polled for jobs, from its start on', async () => {
    const { scheduler } = await setUp();
    scheduler.define('greet', async () => undefined);
    expect(scheduler.tickAge()).toBeUndefined();
    await scheduler.start();
    let last = 0;
    const looked = () => {
      const age = scheduler.tickAge() ?? Number.NaN;
      const fell = age < last;
      last = age;
      return fell;
    };
    await expect.poll(looked, { interval: 5 }).toBe(true);
  });

  it('reads once in a poll, however many names its jobs have, and writes nothing while none is due', async () => {
    const { uri } = await freshDatabase();
    const { client, db } = await connect({ uri, embedded: false, appName: 'test', monitorCommands: true });
    onTestFinished(() => client.close());
    const scheduler = createScheduler({ db, logger, processEvery: 3_600_000 });
    for (const name of ['one', 'two', 'three']) scheduler.define(name, async () => undefined);
    await scheduler.at('one', soon(7_200_000), 'x');
    const sent: string[] = [];
    client.on('commandStarted', ({ commandName }) => sent.push(commandName));
    await scheduler.start();
    await expect.poll(() => sent.length).toBeGreaterThan(0);
    await scheduler.stop();
    expect(sent.filter((name) => name === 'find')).toHaveLength(1);
    expect(sent).not.toContain('findAndModify');
  });

  it('runs a job once when it is due, and then removes it', async () => {
    const { db, scheduler } = await setUp();
    const ran = recorder(scheduler, 'greet', 2);
    const due = soon(200);
    let startedAt = 0;
    scheduler.define('other', async () => {
      startedAt = Date.now();
    });
    await scheduler.start();
    await scheduler.at('other', due, 'x');
    await scheduler.at('greet', soon(300), 'b');
    await scheduler.at('greet', soon(100), 'a');
    await scheduler.at('greet', soon(100), 'a');
    expect([...(await ran)].sort()).toEqual(['a', 'b']);
    await expect.poll(() => startedAt).toBeGreaterThanOrEqual(due.getTime());
    await scheduler.stop();
    await expect.poll(() => db.collection('jobs').countDocuments()).toBe(0);
  });

  it('stores and lists a job even if this process has not started to run jobs', async () => {
    const { scheduler } = await setUp();
    await scheduler.at('greet', far(), 'a');
    expect(await scheduler.list({ limit: 10 })).toMatchObject([
      { name: 'greet', key: 'a', lockedAt: undefined, lockedBy: undefined },
    ]);
  });

  it('stores a second job of the same name and key while the first one is running', async () => {
    const { db, scheduler } = await setUp();
    await scheduler.at('greet', far(), 'a');
    await db.collection('jobs').updateOne({}, { $set: { lockedAt: new Date() } });
    await scheduler.at('greet', far(), 'a');
    expect(await scheduler.list({ limit: 10 })).toHaveLength(2);
  });

  it("stores no second job with `unless: 'unfinished'` while the first one waits or runs", async () => {
    const { db, scheduler } = await setUp();
    const again = () => scheduler.at('greet', far(), 'a', { unless: 'unfinished' });
    const count = () => db.collection('jobs').countDocuments();
    await again();
    await again();
    expect(await count()).toBe(1);
    for (const running of [{ lockedAt: new Date() }, { lockedAt: new Date(), nextRunAt: null }]) {
      await db.collection('jobs').updateOne({}, { $set: running });
      await again();
      expect(await count()).toBe(1);
    }
    await db.collection('jobs').updateOne({}, { $set: { lockedAt: null, nextRunAt: null } });
    await again();
    expect(await count()).toBe(2);
  });

  it('runs a job again after its process has crashed', async () => {
    const { db, scheduler } = await setUp();
    await scheduler.at('greet', soon(-120_000), 'a');
    await db.collection('jobs').updateOne({}, { $set: { lockedAt: soon(-61_000), nextRunAt: null } });
    const ran = recorder(scheduler, 'greet', 1);
    await scheduler.start();
    expect(await ran).toEqual(['a']);
  });

  it('runs a job whose lock is of a time to come after a sweep, but not while the lock may be of a living process', async () => {
    const { db, scheduler } = await setUp();
    const jobs = db.collection('jobs');
    for (const [key, lockedAt] of [
      ['ahead', soon(600_000)],
      ['alive', soon(30_000)],
    ] as const) {
      await scheduler.at('greet', soon(-120_000), key);
      await jobs.updateOne({ 'data.key': key }, { $set: { lockedAt, nextRunAt: null } });
    }
    const ran = recorder(scheduler, 'greet', 1);
    const reads = sweepReads().map(({ filter }) => jobs.countDocuments(filter));
    expect(await Promise.all(reads)).toEqual([0, 1]);
    await scheduler.sweep();
    await scheduler.start();
    expect(await ran).toEqual(['ahead']);
    await expect
      .poll(async () => (await scheduler.list({ limit: 10 })).map(({ key }) => key))
      .toEqual(['alive']);
  });

  it('stores the error message of a failed job, and lists the job with it', async () => {
    const { scheduler } = await setUp();
    scheduler.define('greet', () => Promise.reject(new Error('no voice')));
    await scheduler.at('greet', soon(0), 'a');
    await scheduler.start();
    await expect.poll(async () => (await scheduler.list({ limit: 1 }))[0]?.failReason).toBe('no voice');
  });

  it('waits for running jobs when it is stopped', async () => {
    const { scheduler } = await setUp();
    let finish: (() => void) | undefined;
    let finished = false;
    scheduler.define('slow', async () => {
      await new Promise<void>((resolve) => {
        finish = resolve;
      });
      finished = true;
    });
    await scheduler.start();
    await scheduler.at('slow', soon(0), 'a');
    await expect.poll(() => finish).toBeDefined();
    const stopped = scheduler.stop();
    finish?.();
    await stopped;
    expect(finished).toBe(true);
  });
});

describe('the scheduler for operators', () => {
  it('lists jobs by due time in pages, and shows, moves and cancels them', async () => {
    const { scheduler } = await setUp();
    for (const [key, ms] of [
      ['c', 3000],
      ['a', 1000],
      ['b', 2000],
    ] as const)
      await scheduler.at('greet', soon(3_600_000 + ms), key);
    const [first] = await scheduler.list({ name: 'greet', limit: 1 });
    const rest = await scheduler.list({ name: 'greet', limit: 10, after: first?.id ?? '' });
    expect([first, ...rest].map((job) => job?.key)).toEqual(['a', 'b', 'c']);
    expect(await scheduler.list({ name: 'none', limit: 10 })).toEqual([]);
    expect(await scheduler.show(first?.id ?? '')).toEqual(first);

    expect(await scheduler.cancel(first?.id ?? '')).toBe(true);
    expect(await scheduler.cancel(first?.id ?? '')).toBe(false);
    expect(await scheduler.show(first?.id ?? '')).toBeUndefined();
    await expect(scheduler.list({ limit: 10, after: first?.id ?? '' })).rejects.toMatchObject({
      code: 'not_found',
    });

    const ran = recorder(scheduler, 'greet', 1);
    await scheduler.start();
    expect(await scheduler.move(rest[1]?.id ?? '', soon(0), 'moved')).toBe(true);
    expect(await ran).toEqual(['moved']);
    expect(await scheduler.move('not an id', soon(0), 'moved')).toBe(false);
  });

  it('deletes jobs that finished more than a day ago, and no waiting job', async () => {
    const { db, scheduler } = await setUp();
    await scheduler.at('greet', far(), 'waits');
    await scheduler.at('greet', far(), 'ran');
    const old = { nextRunAt: null, lastFinishedAt: soon(-25 * 3_600_000) };
    await db.collection('jobs').updateOne({ 'data.key': 'ran' }, { $set: old });
    await scheduler.sweep();
    expect((await scheduler.list({ limit: 10 })).map(({ key }) => key)).toEqual(['waits']);
  });
});
