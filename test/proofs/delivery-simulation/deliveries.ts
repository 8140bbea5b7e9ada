import { describe, expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { simulate, type Variant } from './simulate.ts';

const lastLines = 80;

/** Repeats a seed, and describes its violations with the trace until the first of them, or until its end. */
export async function report(seed: number, variant: Variant = {}): Promise<string> {
  const { violations, trace } = await simulate(seed, { variant, trace: true });
  const texts = violations.slice(0, 5).map((text) => `violated: ${text}`);
  const first = trace.findIndex((line) => line.includes(' VIOLATION:'));
  const lines = trace.slice(0, first === -1 ? trace.length : first + 1).slice(-lastLines);
  return [`SIM_SEED=${seed} SIM_RUNS=1`, ...texts, ...lines].join('\n');
}

/**
 * Defines the tests of deliveries with a number of schedules. Each run uses new seeds, and prints how to repeat it.
 * `SIM_RUNS` sets the number of schedules, `SIM_SEED` the first seed.
 */
export function describeDeliveries(schedules: number): void {
  const runs = Number(process.env['SIM_RUNS'] ?? schedules);
  const first = Number(process.env['SIM_SEED'] ?? Date.now() % 1e9);
  describe('the simulated deliveries', () => {
    it(
      `violate no guarantee in ${runs} random schedules with crashes, frozen processes and lost messages`,
      async () => {
        console.log(`simulation: SIM_SEED=${first} SIM_RUNS=${runs}`);
        let [sent, interrupted] = [0, 0];
        for (let seed = first; seed < first + runs; seed += 1) {
          const outcome = await simulate(seed);
          if (outcome.violations.length > 0) expect.fail(await report(seed));
          sent += outcome.sent;
          interrupted += outcome.interrupted;
        }
        console.log(`simulation: ${sent} attempts sent, ${interrupted} interrupted`);
        expect(sent).toBeGreaterThan(runs);
      },
      within(60_000 + runs * 300),
    );
  });
}
