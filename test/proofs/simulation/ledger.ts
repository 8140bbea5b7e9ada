import { describe, expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { report } from './report.ts';
import { simulate } from './simulate.ts';

/** The number of schedules from which a run must contain all expected answers and failures. */
const leastConclusiveSchedules = 1_000;
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
  ...['own', 'answered', 'not_sent', 'lost'].map((way) => `posting ${way}`),
];

/**
 * Defines the tests of the ledger with a number of schedules. Each run uses new seeds, and a failure prints how to repeat it.
 * `SIM_RUNS` sets the number of schedules, `SIM_SEED` the first seed.
 */
export function describeLedger(schedules: number): void {
  const runs = Number(process.env['SIM_RUNS'] ?? schedules);
  const first = Number(process.env['SIM_SEED'] ?? Date.now() % 1e9);
  describe('the simulated ledger', () => {
    it(
      `violates no guarantee of money in ${runs} random schedules with crashes and lost messages`,
      async () => {
        const seen = new Map<string, number>();
        for (let seed = first; seed < first + runs; seed += 1) {
          const outcome = await simulate(seed);
          if (outcome.violations.length > 0) expect.fail(await report(seed));
          for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
        }
        const unseen = expected.filter((what) => !seen.has(what));
        if (runs >= leastConclusiveSchedules)
          expect(unseen, `SIM_SEED=${first} SIM_RUNS=${runs}`).toEqual([]);
      },
      within(60_000 + runs * 300),
    );

    it('sends the same messages in the same order if a schedule runs again with the same seed', async () => {
      const once = await simulate(first, { trace: true });
      const again = await simulate(first, { trace: true });
      expect(once.trace.length).toBeGreaterThan(0);
      expect(again.trace).toEqual(once.trace);
    });
  });
}
