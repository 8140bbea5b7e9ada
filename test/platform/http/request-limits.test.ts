import { BSON, type Db } from 'mongodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../server/platform/database/connect.ts';
import { type Allowance, createRequestCounts } from '../../../server/platform/http/limits/request-limits.ts';
import { momentAt } from '../../api/oauth/oauth-server.ts';
import { freshDatabase } from '../../harness/database.ts';
import { manualClock } from '../../harness/server.ts';

const key = Buffer.alloc(32, 7);

/** Two processes with one database, 10 s into a minute. */
async function twoProcesses() {
  const { db } = await freshDatabase();
  const clock = manualClock(momentAt(30, 10));
  return {
    db,
    clock,
    limits: [createRequestCounts({ db, clock, key }), createRequestCounts({ db, clock, key })] as const,
  };
}

/** One process, and the commands that it has sent since the last call. */
async function watched() {
  const { uri } = await freshDatabase();
  const { client, db } = await connect({ uri, embedded: false, appName: 'test', monitorCommands: true });
  onTestFinished(() => client.close());
  const names: string[] = [];
  client.on('commandStarted', ({ commandName }) => names.push(commandName));
  const limit = createRequestCounts({ db, clock: manualClock(momentAt(30, 10)), key });
  return { limit, commands: () => names.splice(0) };
}

const documents = (db: Db) => db.collection<{ _id: string; used: number }>('requestWindows').find().toArray();

describe('the limit of requests per minute', () => {
  it('admits exactly 30 of 100 simultaneous requests of one id at two processes', async () => {
    const { limits } = await twoProcesses();
    const requests = Array.from({ length: 100 }, (_, n) =>
      (limits[n % 2] ?? limits[0])('token', 'cli_1', 30),
    );
    const answers = await Promise.all(requests);
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(30);
    const again = await Promise.all(limits.map((limit) => limit('token', 'cli_1', 30)));
    expect(again.map(({ allowed }) => allowed)).toEqual([false, false]);
  });

  it('stores in each counter when it can be deleted, also if its first requests exceed the limit together', async () => {
    const { db, clock, limits } = await twoProcesses();
    const [limit] = limits;
    const answers = await Promise.all([1, 1, 5].map((max, n) => limit('token', `cli_${n >> 1}`, max)));
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, false, true]);
    const counters = await db.collection<{ purgeAt: Date }>('requestWindows').find().toArray();
    expect(counters).toHaveLength(2);
    for (const { purgeAt } of counters) expect(purgeAt.getTime()).toBeGreaterThan(clock.now());
  });

  it('returns the seconds until the minute ends as retryAfter', async () => {
    const { clock, limits } = await twoProcesses();
    const [limit] = limits;
    for (let n = 0; n < 3; n += 1)
      expect(await limit('token', 'a', 3)).toEqual({ allowed: true, retryAfter: 50 });
    clock.advance(49_500);
    expect(await limit('token', 'a', 3)).toEqual({ allowed: false, retryAfter: 1 });
  });

  it('admits requests again from the next minute of the wall clock on', async () => {
    const { clock, limits } = await twoProcesses();
    const [limit] = limits;
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: true });
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: false });
    clock.advance(49_999);
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: false });
    clock.advance(1);
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: true, retryAfter: 60 });
  });

  it('counts each name of a limit and each id separately, even in one batch', async () => {
    const { limits } = await twoProcesses();
    const [limit] = limits;
    const calls = ['token', 'userinfo'].flatMap((name) =>
      ['a', 'b', 'a', 'b'].map(async (id) => (await limit(name, id, 1)).allowed),
    );
    expect(await Promise.all(calls)).toEqual([true, true, false, false, true, true, false, false]);
  });

  it('admits further requests if the limit is raised within the minute', async () => {
    const { limits } = await twoProcesses();
    const [limit] = limits;
    await limit('token', 'a', 1);
    for (let n = 0; n < 100; n += 1) expect((await limit('token', 'a', 1)).allowed).toBe(false);
    expect(await limit('token', 'a', 10)).toMatchObject({ allowed: true });
  });

  it('sends no further database command for an id in a minute in which its limit was exceeded', async () => {
    const { db, limits } = await twoProcesses();
    const [limit] = limits;
    for (let n = 0; n < 50; n += 1) await limit('token', 'a', 2);
    // The request above the limit has shown that the minute is full.
    expect(await documents(db)).toMatchObject([{ used: 3 }]);
  });

  it('admits exactly as many requests of each id as its own limit allows if ids in one batch have different limits', async () => {
    const { limits } = await twoProcesses();
    const ids = Array.from({ length: 12 }, (_, n) => `id-${n}`);
    const granted = new Map(ids.map((id) => [id, 0]));
    for (let round = 0; round < 8; round += 1) {
      // Odd ids are requested twice as often, so that each batch has groups of two sizes.
      const asked = ids.flatMap((id, n) => (n % 2 ? [id, id] : [id]));
      const answers = limits.flatMap((limit) =>
        asked.map(async (id) => {
          const { allowed } = await limit('token', id, 5 + (ids.indexOf(id) % 3) * 4);
          if (allowed) granted.set(id, (granted.get(id) ?? 0) + 1);
        }),
      );
      await Promise.all(answers);
    }
    expect([...granted.values()]).toEqual(ids.map((_, n) => 5 + (n % 3) * 4));
  });

  it('applies to each request the limit that is passed with it, even to requests of one id in one batch', async () => {
    const { limits } = await twoProcesses();
    const [limit] = limits;
    const maxima = [2, 2, 5, 5, 5, 2];
    const answers = await Promise.all(maxima.map((max) => limit('token', 'a', max)));
    expect(answers.map(({ allowed }) => allowed)).toEqual([true, true, true, true, true, false]);
  });

  it.each([499, 1_000, 5_000])(
    'admits exactly %i requests at two processes together if it is so high',
    async (max) => {
      const { limits } = await twoProcesses();
      let allowed = 0;
      for (let sent = 0; sent < max * 1.2; sent += 100) {
        const requests: Promise<Allowance>[] = [];
        for (let n = 0; n < 10; n += 1) {
          for (const limit of limits)
            requests.push(...Array.from({ length: 5 }, () => limit('token', 'cli_1', max)));
          // Requests during a batch go into the next batch.
          await new Promise((resolve) => setImmediate(resolve));
        }
        allowed += (await Promise.all(requests)).filter((answer) => answer.allowed).length;
        expect(allowed).toBeLessThanOrEqual(max);
      }
      expect(allowed).toBe(max);
    },
  );

  it('reserves one request at a time in the database if it is below 500', async () => {
    const { db, limits } = await twoProcesses();
    await limits[0]('token', 'a', 499);
    expect(await documents(db)).toMatchObject([{ used: 1 }]);
  });

  it('reserves 100 requests at a time in the database if it is 50,000', async () => {
    const { limit, commands } = await watched();
    for (let n = 0; n < 101; n += 1) await limit('token', 'a', 50_000);
    expect(commands()).toEqual(['insert']);
    await limit('token', 'a', 50_000);
    expect(commands()).toEqual(['update']);
  });

  it('starts again at zero after the database has lost its counters', async () => {
    const { db, limits } = await twoProcesses();
    const [limit] = limits;
    await limit('token', 'a', 3);
    await db.collection('requestWindows').deleteMany({});
    const answers: boolean[] = [];
    for (let n = 0; n < 5; n += 1) answers.push((await limit('token', 'a', 3)).allowed);
    expect(answers).toEqual([true, true, true, false, false]);
  });

  it('admits a request that arrives just before the minute ends, and does not count it in the next minute', async () => {
    const { clock, limits } = await twoProcesses();
    const [limit] = limits;
    const late = limit('token', 'a', 1);
    clock.advance(50_000);
    expect(await late).toMatchObject({ allowed: true });
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: true });
  });

  it('fails for 30 ids with damaged counters, and admits the 70 other ids of the batch', async () => {
    const { db, limits } = await twoProcesses();
    const [limit] = limits;
    const ids = Array.from({ length: 100 }, (_, n) => `id-${n}`);
    const countAll = () => Promise.allSettled(ids.map((id) => limit('token', id, 5)));
    await countAll();
    const broken = (await documents(db)).slice(0, 30).map(({ _id }) => _id);
    await db
      .collection<{ _id: string }>('requestWindows')
      .updateMany({ _id: { $in: broken } }, { $set: { used: 'not a number' } });
    const answers = await countAll();
    expect(answers.filter(({ status }) => status === 'rejected')).toHaveLength(30);
    expect(answers.filter((each) => each.status === 'fulfilled' && each.value.allowed)).toHaveLength(70);
  });

  it.each([
    ['contains dots', 'a.b.c'],
    ['is the name of a database operator', '$inc'],
    ['is empty', ''],
    ['is a digit', '0'],
    ['is __proto__', '__proto__'],
    ['contains a null character', 'é\0'],
  ])('admits 3 of 4 requests with a limit of 3 even if the id %s', async (_, id) => {
    const { limits } = await twoProcesses();
    const answers: boolean[] = [];
    for (const limit of [...limits, ...limits]) answers.push((await limit('token', id, 3)).allowed);
    expect(answers).toEqual([true, true, true, false]);
  });

  it('stores one document of less than 160 bytes for each name and id', async () => {
    const { db, limits } = await twoProcesses();
    const ids = Array.from({ length: 500 }, (_, n) => `id-${n}`);
    for (const limit of [...limits, ...limits])
      await Promise.all(ids.flatMap((id) => [limit('token', id, 3), limit('wrong-secret', id, 3)]));
    const found = await documents(db);
    expect(found).toHaveLength(1000);
    expect(Math.max(...found.map((each) => BSON.calculateObjectSize(each)))).toBeLessThan(160);
  });

  it('sends one insert and one update at most for a batch of 101 ids', async () => {
    const { limit, commands } = await watched();
    const some = Array.from({ length: 100 }, (_, n) => `id-${n}`);
    await Promise.all(some.map((id) => limit('token', id, 30)));
    expect(commands()).toEqual(['insert']);
    await Promise.all([...some, 'new'].map((id) => limit('token', id, 30)));
    expect(commands().toSorted()).toEqual(['insert', 'update']);
  });

  it('stores an id, such as an IP address, only as a keyed digest', async () => {
    const { db, clock } = await twoProcesses();
    const ip = '203.0.113.7';
    for (const secret of [key, Buffer.alloc(32, 8)])
      await createRequestCounts({ db, clock, key: secret })('start', ip, 3);
    const ids = (await documents(db)).map(({ _id }) => _id);
    expect(ids).toHaveLength(2);
    for (const id of ids) expect(id).toMatch(/^[\w-]{22}:\d+$/);
  });

  it('makes the database delete each counter two minutes later', async () => {
    const { db, clock, limits } = await twoProcesses();
    await limits[0]('token', 'a', 2);
    const [counter] = await db.collection('requestWindows').find().toArray();
    expect(counter?.['purgeAt']).toEqual(new Date(clock.now() + 120_000));
  });
});
