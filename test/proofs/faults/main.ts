// `npm run faults`: kills processes and disturbs messages at every point, and prints the effects on money, users,
// events and the audit log.
// It exits with 1 if there is a fault.
import { parseArgs } from 'node:util';
import { pointTitles, runSuite } from './suite.ts';
import { failuresOf, report } from './table.ts';

const help = `npm run faults -- [options]

  --runs N       of each point (25)
  --workers N    how many points are under way at once (3)
  --point TEXT   points with this in their name, such as "money: database dies, page"; may be repeated
  --servers N    only points of several servers, with N of them, such as 8
  --list         the names of these points, and nothing else
`;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        runs: { type: 'string', default: '25' },
        workers: { type: 'string', default: '3' },
        point: { type: 'string', multiple: true, default: [''] },
        servers: { type: 'string' },
        list: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
      },
    });
    const [runs, workers] = [Number(values.runs), Number(values.workers)];
    if (!(runs >= 1 && workers >= 1)) throw new Error('--runs and --workers take a number from 1 on');
    const servers = values.servers === undefined ? undefined : Number(values.servers);
    if (servers !== undefined && !(servers >= 2)) throw new Error('--servers takes a number from 2 on');
    const titles = pointTitles(servers);
    const isChosen = (title: string) => values.point.some((text) => title.includes(text));
    const missed = values.point.find((text) => !titles.some((title) => title.includes(text)));
    if (missed !== undefined) throw new Error(`no point has "${missed}" in its name: --list shows them`);
    return { ...values, runs, workers, servers, titles, isChosen };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exit(2);
  }
}

const { runs, workers, servers, titles, isChosen, list, help: wantsHelp } = readOptions();
if (wantsHelp || list) {
  process.stdout.write(wantsHelp ? help : `${titles.filter(isChosen).join('\n')}\n`);
  process.exit(0);
}

const rows = await runSuite({
  runs,
  workers,
  servers,
  isChosen,
  progress(row) {
    const mark = failuresOf(row) === 0 ? '✓' : '✗';
    const words = [...new Set(row.other)].map((each) => `  ${each}\n`);
    process.stderr.write(`${mark} ${row.part.name}: ${row.point}, ${row.runs} runs\n${words.join('')}`);
  },
});
process.stdout.write(`${report(rows)}\n`);
process.exit(rows.length > 0 && rows.every((row) => failuresOf(row) === 0) ? 0 : 1);
