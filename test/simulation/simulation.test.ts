import { describe, expect, it } from 'vitest';
import { type Guard, guards } from './guards.ts';
import { report } from './report.ts';
import { simulate } from './simulate.ts';

/** The promises are put to new schedules in each run; with what a run prints, it can be repeated. */
const given = process.env['SIM_SEED'];
const runs = Number(process.env['SIM_RUNS'] ?? 3_000);
const seedsFrom = (first: number) => Array.from({ length: runs }, (_, n) => first + n);
/** So many schedules meet everything that can happen; fewer are for looking at one. */
const enough = 1_000;
const timeout = 300_000;

describe('the exchange, simulated', () => {
  const first = Number(given ?? Date.now() % 1e9);

  it(
    `keeps its promises in ${runs} schedules`,
    async () => {
      console.log(`simulation: SIM_SEED=${first} SIM_RUNS=${runs}`);
      const seen = new Map<string, number>();
      for (const seed of seedsFrom(first)) {
        const outcome = await simulate(seed);
        if (outcome.violations.length > 0) expect.fail(await report(seed));
        for (const [what, count] of outcome.seen) seen.set(what, (seen.get(what) ?? 0) + count);
      }
      console.log(`simulation: ${[...seen].map(([what, count]) => `${what} ${count}`).join(', ')}`);
      if (runs < enough) return;

      const verdicts = ['held', 'settled', 'stale', 'full', 'capped', 'insufficient'];
      const answers = ['granted', 'used', 'exhausted', 'refused', 'unavailable', 'silence'];
      const expected = [...verdicts, ...answers.map((answer) => `told ${answer}`), 'live', 'void'];
      expect(expected.filter((what) => !seen.has(what))).toEqual([]);
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

describe.skipIf(runs < enough)('a simulation that is short of one guard finds out', () => {
  const first = Number(given ?? 1);

  it.each(Object.entries(guards) as [Guard, string][])(
    '%s: %s',
    async (removed) => {
      for (const seed of seedsFrom(first)) {
        const { violations } = await simulate(seed, { removed });
        if (violations.length === 0) continue;
        console.log(`simulation: without "${removed}", seed ${seed}: ${violations[0]}`);
        return;
      }
      expect.fail(`nothing missed this guard in ${runs} schedules from ${first} on`);
    },
    timeout,
  );
});
