import { describe, expect, it } from 'vitest';
import { createProcesses } from '../../../server/platform/jobs/processes.ts';
import { preparedDatabase } from '../../harness/database.ts';
import { shiftedClock } from '../../harness/server.ts';

async function two() {
  const { db } = await preparedDatabase();
  const clock = shiftedClock();
  const [one, other] = [0, 1].map(() =>
    createProcesses({ db, clock, roles: ['api'], masterKeys: ['key'], schema: 1 }),
  );
  if (!one || !other) throw new Error('no processes');
  return { clock, one, other };
}

describe('the list of processes', () => {
  it('contains processes with a heartbeat in the last 45 s, and no process that has left', async () => {
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

  it('does not contain a process that only listens for hand-overs; the list of private listeners does', async () => {
    const { one, other } = await two();
    await one.beat();
    await other.join('10.0.0.1:8084');
    expect((await one.list()).map(({ _id }) => _id)).toEqual([one.id]);
    expect(await one.peers()).toEqual([{ id: other.id, host: expect.any(String), address: '10.0.0.1:8084' }]);
    await other.resign();
    expect(await one.peers()).toEqual([]);
  });

  it('contains a private listener for 10 s after its last heartbeat', async () => {
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
