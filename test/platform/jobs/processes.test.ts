import { describe, expect, it } from 'vitest';
import { createProcesses } from '../../../server/platform/jobs/processes.ts';
import { preparedDatabase } from '../../harness/database.ts';
import { shiftedClock } from '../../harness/server.ts';

async function two() {
  const { db } = await preparedDatabase();
  const clock = shiftedClock();
  const [one, other] = [0, 1].map(() =>
    createProcesses({ db, clock, roles: ['api'], masterKeys: ['key'], sharedSettings: {}, schema: 1 }),
  );
  if (!one || !other) throw new Error('no processes');
  return { clock, one, other };
}

it('the survey has what each process reports, a silent process as not ready, and the roles that none has', async () => {
  const { db } = await preparedDatabase();
  const clock = shiftedClock();
  const reasons: string[] = [];
  const start = (roles: string[], report?: () => { reasons: string[]; clockOffsetMs: number }) =>
    createProcesses({
      ...{ db, clock, roles, masterKeys: ['key'], sharedSettings: {}, schema: 1 },
      ...(report && { report }),
    });
  const worker = start(['worker'], () => ({ reasons: [...reasons], clockOffsetMs: -40_000 }));
  const silent = start(['api']);
  await silent.beat();
  await worker.beat();
  const find = async (wanted: { id: string }) =>
    (await silent.survey()).processes.find(({ _id }) => _id === wanted.id)?.condition;
  expect(await find(silent)).toBeUndefined();
  expect(await find(worker)).toMatchObject({ reasons: [], clockOffsetMs: -40_000 });
  expect((await silent.survey()).missingRoles).toEqual([{ role: 'admin', since: undefined }]);
  reasons.push('the clock is off');
  await worker.beat();
  expect(await find(worker)).toMatchObject({ reasons: ['the clock is off'] });
  clock.ahead = 31_000;
  await silent.beat();
  expect((await find(worker))?.reasons).toEqual([
    expect.stringMatching(/^it has sent no heartbeat for 3\d s$/),
  ]);
  expect((await silent.survey()).missingRoles).toEqual([
    { role: 'admin', since: undefined },
    { role: 'worker', since: expect.any(Date) },
  ]);
  clock.ahead = 60_000;
  expect(await find(worker)).toBeUndefined();
  await worker.beat();
  await worker.leave();
  expect(await find(worker)).toBeUndefined();
});

it('a role counts as held for 30 s after the last heartbeat of a process that has it', async () => {
  const { clock, one, other } = await two();
  expect(await other.hasRole('api')).toBe(false);
  await one.beat();
  expect([await other.hasRole('api'), await other.hasRole('worker')]).toEqual([true, false]);
  expect([await one.othersHaveRole('api'), await other.othersHaveRole('api')]).toEqual([false, true]);
  clock.ahead = 31_000;
  expect([await other.hasRole('api'), await other.othersHaveRole('api')]).toEqual([false, false]);
});

describe('a process that starts', () => {
  async function startBeside(environments: readonly (string | undefined)[]) {
    const { db } = await preparedDatabase();
    const clock = shiftedClock();
    const settings = { db, clock, roles: ['api'], masterKeys: ['key'], schema: 1 };
    const create = (environment: string | undefined) =>
      createProcesses({
        ...settings,
        sharedSettings: environment === undefined ? {} : { SVC_ENVIRONMENT: environment },
      });
    const others = environments.map(create);
    for (const other of others) await other.beat();
    return { clock, others, requireSame: () => create('staging').requireSameEnvironment() };
  }

  it('is refused beside a live process of another environment, and names that environment', async () => {
    const { requireSame } = await startBeside(['staging', 'production']);
    await expect(requireSame()).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringMatching(
        /SVC_ENVIRONMENT: it is staging here, but the processes .* have production: \S+ \d+\./,
      ),
    });
  });

  it('is not refused beside processes of its environment, nor beside builds that do not report theirs', async () => {
    const { requireSame } = await startBeside(['staging', undefined]);
    await expect(requireSame()).resolves.toBeUndefined();
  });

  it('is not refused if the process of another environment has left, or has sent no heartbeat for 45 s', async () => {
    const left = await startBeside(['production']);
    for (const other of left.others) await other.leave();
    await expect(left.requireSame()).resolves.toBeUndefined();
    const killed = await startBeside(['production']);
    killed.clock.ahead = 44_000;
    await expect(killed.requireSame()).rejects.toThrow('production');
    killed.clock.ahead = 46_000;
    await expect(killed.requireSame()).resolves.toBeUndefined();
  });
});

describe('the lists of processes and of private listeners', () => {
  it('contain a process for 45 s after its last heartbeat, unless it has left', async () => {
    const { clock, one, other } = await two();
    await one.beat();
    clock.ahead = 44_000;
    await other.beat();
    expect(new Set((await other.list()).map(({ _id }) => _id))).toEqual(new Set([one.id, other.id]));
    clock.ahead = 46_000;
    expect((await other.list()).map(({ _id }) => _id)).toEqual([other.id]);
    await other.leave();
    expect(await one.list()).toEqual([]);
  });

  it('contain a process that announced only its private listener in the list of listeners alone', async () => {
    const { one, other } = await two();
    await one.beat();
    await other.join('10.0.0.1:8084');
    expect((await one.list()).map(({ _id }) => _id)).toEqual([one.id]);
    expect(await one.peers()).toEqual([{ id: other.id, host: expect.any(String), address: '10.0.0.1:8084' }]);
    await other.resign();
    expect(await one.peers()).toEqual([]);
  });

  it('contain a private listener for 10 s after its last announcement', async () => {
    const { clock, one } = await two();
    await one.join('10.0.0.1:8084');
    clock.ahead = 9_000;
    expect(await one.peers()).toHaveLength(1);
    await one.join('10.0.0.1:8085');
    clock.ahead = 18_000;
    expect((await one.peers()).map(({ address }) => address)).toEqual(['10.0.0.1:8085']);
    clock.ahead = 20_000;
    expect(await one.peers()).toEqual([]);
  });
});
