import { expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { createRandom } from '../simulation/random.ts';
import { openFacade } from './cluster.ts';
import { runDrill } from './drill.ts';
import { buildMutant, mutants } from './mutants.ts';

it.each(mutants)('the mutant $name replaces a text that the built server contains exactly once', (mutant) => {
  expect(buildMutant(mutant)).toMatch(/main\.js$/);
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
