import type { Variant } from './harness.ts';
import { simulate } from './simulate.ts';

const lastLines = 80;

/** Repeats a seed, and describes its violations with the end of its trace. */
export async function report(seed: number, variant: Variant = {}): Promise<string> {
  const { violations, trace } = await simulate(seed, { variant, trace: true });
  return [
    `SIM_SEED=${seed} SIM_RUNS=1`,
    ...violations.slice(0, 5).map((text) => `violated: ${text}`),
    ...trace.slice(-lastLines),
  ].join('\n');
}
