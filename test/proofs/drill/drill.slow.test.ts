import { expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { createRandom } from '../simulation/random.ts';
import { openFacade } from './cluster.ts';
import { runDrill } from './drill.ts';
import { productProgram } from './mutants.ts';
import { failuresOf, describe as lines, shortfall } from './report.ts';

/** The number of elections. `npm run drill` holds 200. */
const elections = 6;

it('elections under load lose and double no charge, user, event or audit entry', {
  timeout: within(300_000),
}, async () => {
  const random = createRandom(6);
  const broken: unknown[] = [];
  const cluster = await openFacade({ random, plan: {}, onFault: (error) => broken.push(error) });
  try {
    const report = await runDrill({ cluster, random, elections, servers: 2, program: productProgram });
    expect(failuresOf(report), lines(report)).toEqual([]);
    expect(shortfall(report, elections)).toEqual([]);
    expect(Object.keys(report.kinds)).toHaveLength(4);
    expect(broken).toEqual([]);
  } finally {
    await cluster.close();
  }
});
