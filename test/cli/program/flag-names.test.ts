import { describe, expect, it } from 'vitest';
import { nameFlags } from '../../../cli/errors/flag-names.ts';

const flags = ['amount', 'keep-old', 'expires', 'in', 'low-balance', 'limit'];

describe('the faults of an input that the server refuses', () => {
  it.each([
    ['limit: must be at most 500', '--limit: must be at most 500'],
    ['keepOldSeconds: at most 30 days', '--keep-old: at most 30 days'],
    ['expiresIn: at most 400 days', '--expires: at most 400 days'],
    ['inSeconds: at most 30 days', '--in: at most 30 days'],
    ['lowBalance.cents: at most 1000000.00 USD', '--low-balance: at most 1000000.00 USD'],
    [
      'amount: at least 1; limit: is required; and 2 more faults',
      '--amount: at least 1; --limit: is required; and 2 more faults',
    ],
  ])('%j names the flags', (faults, named) => expect(nameFlags(faults, flags)).toBe(named));

  it.each(['name: must not be empty', 'No partner ptr_1: see svcadmin partners list', 'the limit: none', ''])(
    '%j stays as it is, because the command has no such flag',
    (faults) => expect(nameFlags(faults, flags)).toBe(faults),
  );
});
