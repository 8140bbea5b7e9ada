// `npm run faults`: strikes the service at every point, and prints what it did to money and events. It exits with 1
// where that is anything.
import { parseArgs } from 'node:util';
import { runSuite } from './suite.ts';
import { faultsOf, report } from './table.ts';

const { values } = parseArgs({
  options: {
    /** Of each point. */
    runs: { type: 'string', default: '25' },
    /** How many are under way at once. */
    lanes: { type: 'string', default: '3' },
    /** Only points with this in their name, which begins with `money: ` or `webhooks: `. */
    only: { type: 'string', default: '' },
  },
});

const rows = await runSuite({
  runs: Number(values.runs),
  lanes: Number(values.lanes),
  only: values.only,
  progress: (row) =>
    process.stderr.write(`${faultsOf(row) === 0 ? '✓' : '✗'} ${row.part}: ${row.point}, ${row.runs} runs\n`),
});
process.stdout.write(`${report(rows)}\n`);
process.exit(rows.length > 0 && rows.every((row) => faultsOf(row) === 0) ? 0 : 1);
