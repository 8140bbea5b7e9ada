import { expect, it } from 'vitest';
import { within } from '../../harness/time-limits.ts';
import { pointTitles, runSuite } from './suite.ts';
import { failuresOf, report } from './table.ts';

/**
 * One point of each part. `npm run nightly` runs every point, also those of several servers, which restart until the right one is
 * the writer.
 */
const short = new Set([
  'money: server dies, page:after',
  'webhooks: after the POST, before its record',
  'flows: database dies, complete:before',
  'erasure: server dies, user:after',
  'admin: new record: lose-reply',
]);

it('crashed processes and lost messages cause no lost and no doubled cent, token, user, event or audit entry', {
  timeout: within(240_000),
}, async () => {
  expect([...short].filter((title) => !pointTitles().includes(title))).toEqual([]);
  const rows = await runSuite({ runs: 1, workers: 3, isChosen: (title) => short.has(title) });
  expect(
    rows.map(({ runs }) => runs),
    report(rows),
  ).toEqual([...short].map(() => 1));
  expect(
    rows.reduce((sum, row) => sum + failuresOf(row), 0),
    report(rows),
  ).toBe(0);
});
