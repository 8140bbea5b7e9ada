import { expect, it } from 'vitest';
import { createTally } from '../../../cli/list/tally.ts';

const row = (partnerId: string, partnerName: string | null, amount: number) => ({
  ...{ partnerId, partnerName, amount, mode: 'live' },
});

it('partners with the same name are counted apart in groups by name, with their ids', () => {
  const tally = createTally(['partnerName'], 'amount');
  for (const [id, name, amount] of [
    ['ptr_a', 'Fig', 50],
    ['ptr_a', 'Fig', 50],
    ['ptr_b', 'Fig', 30],
    ['ptr_c', 'Gale', 20],
    ['ptr_d', null, 10],
  ] as const)
    tally.add(row(id, name, amount));
  expect(tally.groups()).toEqual([
    { partnerName: 'Fig (ptr_a)', count: 2, amount: 100, share: 0.4 },
    { partnerName: null, count: 1, amount: 10, share: 0.2 },
    { partnerName: 'Fig (ptr_b)', count: 1, amount: 30, share: 0.2 },
    { partnerName: 'Gale', count: 1, amount: 20, share: 0.2 },
  ]);
});

it('groups without a name of partners have one group for each value, of whatever partner', () => {
  const tally = createTally(['mode']);
  for (const id of ['ptr_a', 'ptr_b']) tally.add(row(id, 'Fig', 1));
  expect(tally.groups()).toEqual([{ mode: 'live', count: 2, share: 1 }]);
});
