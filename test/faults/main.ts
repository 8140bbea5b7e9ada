// `npm run faults`: strikes the service at every point, and prints what it did to money and events. It exits with 1
// where that is anything.
import { parseArgs } from 'node:util';
import { pointNames, runSuite } from './suite.ts';
import { faultsOf, report } from './table.ts';

const help = `npm run faults -- [options]

  --runs N       of each point (25)
  --lanes N      how many are under way at once (3)
  --only TEXT    points with this in their name, such as "money: commit"
  --list         the names of these points, and nothing else
`;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: 'string', default: '25' },
        lanes: { type: 'string', default: '3' },
        only: { type: 'string', default: '' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const [runs, lanes] = [Number(values.runs), Number(values.lanes)];
    if (!(runs >= 1 && lanes >= 1)) throw new Error('--runs and --lanes take a number from 1 on');
    const points = pointNames(values.only);
    if (points.length === 0) throw new Error(`no point has "${values.only}" in its name: --list shows them`);
    return { ...values, points, runs, lanes };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exit(2);
  }
}

const { runs, lanes, only, points, list, help: wantsHelp } = readOptions();
if (wantsHelp || list) {
  process.stdout.write(wantsHelp ? help : `${points.join('\n')}\n`);
  process.exit(0);
}

const rows = await runSuite({
  runs,
  lanes,
  only,
  progress: (row) =>
    process.stderr.write(`${faultsOf(row) === 0 ? '✓' : '✗'} ${row.part}: ${row.point}, ${row.runs} runs\n`),
});
process.stdout.write(`${report(rows)}\n`);
process.exit(rows.length > 0 && rows.every((row) => faultsOf(row) === 0) ? 0 : 1);
