import { describe, expect, it } from 'vitest';
import { createRequestLimits } from '../../server/platform/request-limits.ts';
import { freshDatabase } from '../harness/database.ts';
import { manualClock } from '../harness/server.ts';
import { momentAt } from '../oauth/oauth-server.ts';

const key = Buffer.alloc(32, 7);

/** Two processes on one database, 10 s into a minute. */
async function twoProcesses() {
  const { db } = await freshDatabase();
  const clock = manualClock(momentAt(30, 10));
  return {
    db,
    clock,
    limits: [createRequestLimits({ db, clock, key }), createRequestLimits({ db, clock, key })] as const,
  };
}

describe('request limits', () => {
  it('are exact over two processes, whatever arrives at once', async () => {
    const { limits } = await twoProcesses();
    const requests = Array.from({ length: 100 }, (_, n) =>
      (limits[n % 2] ?? limits[0])('token', 'cli_1', 30),
    );
    const answers = await Promise.all(requests);
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(30);
    const again = await Promise.all(limits.map((limit) => limit('token', 'cli_1', 30)));
    expect(again.map(({ allowed }) => allowed)).toEqual([false, false]);
  });

  it('are exact for several ids that share their batches', async () => {
    const { limits } = await twoProcesses();
    const ids = ['a', 'b', 'c'];
    const answers = await Promise.all(
      Array.from({ length: 180 }, async (_, n) => {
        const id = ids[n % 3] ?? '';
        const { allowed } = await (limits[n % 2] ?? limits[0])('token', id, 20);
        return allowed ? [id] : [];
      }),
    );
    for (const id of ids) expect(answers.flat().filter((each) => each === id)).toHaveLength(20);
  });

  it('are exact where requests come in many batches', async () => {
    const { limits } = await twoProcesses();
    let allowed = 0;
    for (let n = 0; n < 40; n += 1) {
      const answers = await Promise.all(limits.map((limit) => limit('token', 'cli_1', 30)));
      allowed += answers.filter((answer) => answer.allowed).length;
    }
    expect(allowed).toBe(30);
  });

  it('say what is left, and when the minute is over', async () => {
    const { clock, limits } = await twoProcesses();
    const [limit] = limits;
    expect(await limit('token', 'a', 3)).toEqual({ allowed: true, retryAfter: 50, limit: 3, remaining: 2 });
    expect(await limit('token', 'a', 3)).toMatchObject({ remaining: 1 });
    expect(await limit('token', 'a', 3)).toMatchObject({ allowed: true, remaining: 0 });
    clock.advance(49_500);
    expect(await limit('token', 'a', 3)).toEqual({ allowed: false, retryAfter: 1, limit: 3, remaining: 0 });
  });

  it('begin again with each minute of the wall clock', async () => {
    const { clock, limits } = await twoProcesses();
    const [limit] = limits;
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: true });
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: false });
    clock.advance(49_999);
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: false });
    clock.advance(1);
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: true, retryAfter: 60 });
  });

  it('count each name and each id by itself, also in one batch', async () => {
    const { limits } = await twoProcesses();
    const [limit] = limits;
    const calls = ['token', 'userinfo'].flatMap((name) =>
      ['a', 'b', 'a', 'b'].map(async (id) => (await limit(name, id, 1)).allowed),
    );
    expect(await Promise.all(calls)).toEqual([true, true, false, false, true, true, false, false]);
  });

  it('take a limit that was raised in the same minute', async () => {
    const { limits } = await twoProcesses();
    const [limit] = limits;
    await limit('token', 'a', 1);
    for (let n = 0; n < 100; n += 1) expect((await limit('token', 'a', 1)).allowed).toBe(false);
    expect(await limit('token', 'a', 10)).toMatchObject({ allowed: true, remaining: 8 });
  });

  it('ask the database no more once a minute is known to be full', async () => {
    const { db, limits } = await twoProcesses();
    const [limit] = limits;
    for (let n = 0; n < 50; n += 1) await limit('token', 'a', 2);
    const [counter] = await db.collection('requestWindows').find().toArray();
    expect(Object.values(counter?.['used'] as object)).toEqual([2]);
  });

  it('forget a minute that is over by the time it is counted', async () => {
    const { clock, limits } = await twoProcesses();
    const [limit] = limits;
    const late = limit('token', 'a', 1);
    clock.advance(50_000);
    expect(await late).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limit('token', 'a', 1)).toMatchObject({ allowed: true });
  });

  it('fail by themselves: what cannot be counted holds up nothing else', async () => {
    const { db, clock, limits } = await twoProcesses();
    const [limit] = limits;
    const broken = `wrong-secret:${Math.floor(clock.now() / 60_000)}`;
    const documents = Array.from({ length: 4 }, (_, n) => ({ _id: `${broken}:${n}`, used: 'not a number' }));
    await db.collection<{ _id: string; used: string }>('requestWindows').insertMany(documents);
    const ids = Array.from({ length: 100 }, (_, n) => `id-${n}`);
    const answers = await Promise.allSettled(ids.map((id) => limit('wrong-secret', id, 5)));
    const failed = answers.filter(({ status }) => status === 'rejected').length;
    expect(failed).toBeGreaterThan(10);
    expect(failed).toBeLessThan(90);
    expect(await limit('token', 'a', 5)).toMatchObject({ allowed: true });
  });

  it.each(['a.b.c', '$inc', '', '0', '__proto__', 'é\0'])('take %j for an id', async (id) => {
    const { limits } = await twoProcesses();
    const answers: boolean[] = [];
    for (const limit of [...limits, ...limits]) answers.push((await limit('token', id, 3)).allowed);
    expect(answers).toEqual([true, true, true, false]);
  });

  it('keep the counters of a minute in one document, but spread those whose ids callers choose', async () => {
    const { db, limits } = await twoProcesses();
    const [limit] = limits;
    const ids = Array.from({ length: 1000 }, (_, n) => `id-${n}`);
    await Promise.all(ids.flatMap((id) => [limit('token', id, 3), limit('wrong-secret', id, 3)]));
    const documents = await db.collection<{ _id: string; used: object }>('requestWindows').find().toArray();
    const sizes = (name: string) =>
      documents.filter(({ _id }) => _id.startsWith(name)).map(({ used }) => Object.keys(used).length);
    expect(sizes('token')).toEqual([1000]);
    expect(sizes('wrong-secret')).toHaveLength(8);
    expect(Math.max(...sizes('wrong-secret'))).toBeLessThan(200);
  });

  it('leave nothing behind: counters can be purged two minutes later', async () => {
    const { db, clock, limits } = await twoProcesses();
    await limits[0]('token', 'a', 2);
    const [counter] = await db.collection('requestWindows').find().toArray();
    expect(counter?.['purgeAt']).toEqual(new Date(clock.now() + 120_000));
  });
});
