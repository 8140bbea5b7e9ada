import { expect, it } from 'vitest';
import { buildMutant, mutants } from './mutants.ts';

it.each(mutants)('the mutant $name replaces a text that the built server contains exactly once', (mutant) => {
  expect(buildMutant(mutant)).toMatch(/main\.js$/);
});
