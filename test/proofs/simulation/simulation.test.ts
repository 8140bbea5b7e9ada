import { describe, expect, it } from 'vitest';
import { describeLedger } from './ledger.ts';
import { createRandom } from './random.ts';
import { report } from './report.ts';
import { createActor, createSchedule } from './schedule.ts';
import { simulate } from './simulate.ts';

describeLedger(60);

describe('a schedule of the simulation', () => {
  it('throws if an event is scheduled for an earlier time than the present one', () => {
    const schedule = createSchedule(0, createRandom(1));
    expect(() => schedule.after(-1, createActor('process 1'), () => undefined)).toThrow(/does not go back/);
  });

  // Seeds that have failed before. 516746889: a process paused for longer than it waits for an answer.
  it.each([516746889])('violates no guarantee of the ledger with the seed %d', async (seed) => {
    const { violations } = await simulate(seed);
    if (violations.length > 0) expect.fail(await report(seed));
  });
});
