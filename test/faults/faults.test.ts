import { expect, it } from 'vitest';
import { runSuite } from './suite.ts';
import { faultsOf, report } from './table.ts';

/** `npm run faults` strikes at every point, 25 times. */
const short = { runs: 1, lanes: 1, every: 12 };

it('a process that is killed, and a message that is lost, at some points: no cent, token or event is', async () => {
  const rows = await runSuite(short);
  expect(rows.length).toBeGreaterThan(4);
  expect(rows.every(({ runs }) => runs === short.runs)).toBe(true);
  expect(
    rows.reduce((sum, row) => sum + faultsOf(row), 0),
    report(rows),
  ).toBe(0);
}, 240_000);
