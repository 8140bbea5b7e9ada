import { describe, expect, it } from 'vitest';
import { guards, withoutGuard } from './guards.ts';
import { report } from './report.ts';
import { simulate } from './simulate.ts';

/**
 * `SIM_RUNS` sets the number of schedules (20000 for a long run), `SIM_SEED` the first seed. Each run takes new seeds, and prints
 * what repeats it.
 */
const given = process.env['SIM_SEED'];
const runs = Number(process.env['SIM_RUNS'] ?? 1_000);
const first = Number(given ?? Date.now() % 1e9);
const timeout = 60_000 + runs * 300;

/** What a run of this many schedules has always met. */
const enough = 1_000;
const expected = [
  ...[
    'charged',
    'replayed',
    'used',
    'insufficient',
    'minute',
    'hour',
    'over',
    'late',
    'unavailable',
    'silence',
  ],
  ...['written', 'repeated', 'refused', 'conflict', 'unavailable'].map((outcome) => `command ${outcome}`),
  ...['process crash', 'failover', 'page lost in a failover', 'replica set', 'single server'],
];

describe('the ledger, simulated', () => {
  it(
    `keeps its guarantees in ${runs} schedules`,
    async () => {
      console.log(`simulation: SIM_SEED=${first} SIM_RUNS=${runs}`);
      const seen = new Map<string, number>();
      for (let seed = first; seed < first + runs; seed += 1) {
        const outcome = await simulate(seed);
        if (outcome.violations.length > 0) expect.fail(await report(seed));
        for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
      }
      console.log(`simulation: ${[...seen].map(([what, count]) => `${what} ${count}`).join(', ')}`);
      if (runs >= enough) expect(expected.filter((what) => !seen.has(what))).toEqual([]);
    },
    timeout,
  );

  it('repeats a schedule message by message from its seed', async () => {
    const once = await simulate(first, { trace: true });
    const again = await simulate(first, { trace: true });
    expect(once.trace.length).toBeGreaterThan(0);
    expect(again.trace).toEqual(once.trace);
  });
});

describe('the simulation finds that a guard is missing', () => {
  it.each(guards.map((guard) => [guard.title, guard] as const))(
    '%s',
    async (title, guard) => {
      const variant = withoutGuard(guard);
      for (let seed = 1; seed <= guard.budget; seed += 1) {
        const { violations } = await simulate(seed, { variant });
        if (violations.length === 0) continue;
        console.log(`simulation: without "${title}", seed ${seed} of ${guard.budget}: ${violations[0]}`);
        return;
      }
      expect.fail(`no violation without this guard in ${guard.budget} schedules`);
    },
    120_000,
  );

  it.each(guards.flatMap((guard) => (guard.plan ? [[guard.title, guard.plan] as const] : [])))(
    'and nothing else in the schedules that look for: %s',
    async (_, plan) => {
      for (let seed = 1; seed <= 20; seed += 1) {
        const { violations } = await simulate(seed, { variant: { plan } });
        expect(violations).toEqual([]);
      }
    },
    120_000,
  );
});
