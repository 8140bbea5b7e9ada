import { expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { createRandom } from '../simulation/random.ts';
import { openFacade } from './cluster.ts';
import { runDrill } from './drill.ts';
import { buildMutant, mutants, productProgram } from './mutants.ts';
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

it('the drill reports lost writes for a server that does not wait for a majority', {
  timeout: within(300_000),
}, async () => {
  const mutant = mutants.find(({ name }) => name === 'w-1');
  if (!mutant) throw new Error('there is no such mutant');
  const random = createRandom(3);
  const cluster = await openFacade({ random, plan: {}, onFault: () => undefined });
  try {
    const report = await runDrill({
      ...{ cluster, random, elections: 20, servers: 2, untilFault: true },
      program: buildMutant(mutant),
    });
    expect(report.faults.filter(({ means }) => means === 'wrong')).not.toEqual([]);
  } finally {
    await cluster.close();
  }
});
