import type { Guard } from './guards.ts';
import { simulate } from './simulate.ts';

const lastLines = 60;

/** Runs a seed once more, and tells what went wrong with the lines of its trace that bear on it. */
export async function report(seed: number, removed?: Guard): Promise<string> {
  const { violations, trace } = await simulate(seed, { trace: true, ...(removed ? { removed } : {}) });
  const ids = violations.flatMap((text) => text.match(/(rev_)?txn_\w{10}|code \d+|crowd_\d+/g) ?? []);
  const about = trace.filter((line) => ids.some((id) => line.includes(id)) || /crashes|freezes/.test(line));
  return [
    `SIM_SEED=${seed} SIM_RUNS=1`,
    ...violations.map((text) => `✗ ${text}`),
    ...about.slice(-lastLines),
  ].join('\n');
}
