import { describe, expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { seedsOf } from '../simulation/random.ts';
import { describeDeliveries, report } from './deliveries.ts';
import { guards, withoutGuard } from './guards.ts';
import { simulate } from './simulate.ts';

describeDeliveries(100);

/** Schedules with each safeguard. `npm run nightly`, which sets SIM_RUNS, tries more. */
const schedules = process.env['SIM_RUNS'] ? 20 : 2;

describe('the simulation of deliveries', () => {
  it.each(guards.map((guard) => [guard.title, guard] as const))(
    'reports a violated guarantee if this safeguard is removed: %s',
    async (title, guard) => {
      const variant = withoutGuard(guard);
      for (const seed of seedsOf(guard)) {
        const { violations } = await simulate(seed, { variant });
        if (violations.length === 0) continue;
        console.log(`simulation: without "${title}", seed ${seed} of ${guard.budget}: ${violations[0]}`);
        return;
      }
      expect.fail(`no violation without this guard in ${guard.budget} schedules`);
    },
    within(120_000),
  );

  it.each(guards.map(({ title, plan }) => [title, plan] as const))(
    `reports no violated guarantee in ${schedules} schedules of the same kind with the safeguard: %s`,
    async (_, plan) => {
      for (let seed = 1; seed <= schedules; seed += 1) {
        const { violations } = await simulate(seed, { variant: { plan } });
        if (violations.length > 0) expect.fail(await report(seed, { plan }));
      }
    },
    within(120_000),
  );
});
