import { mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { casesOf } from './cases.ts';
import { startOurs } from './contenders/ours.ts';
import { startPeers } from './contenders/peer.ts';
import { type DatabaseServer, openDatabaseServer } from './database.ts';
import { measureCeiling } from './load/ceiling.ts';
import { type Load, startLoad } from './load/load.ts';
import { describeMachine, describeVersions, loadAverage } from './machine.ts';
import { createMeasure } from './measure.ts';
import { readOptions } from './options.ts';
import { root, temporaryDirectory } from './processes.ts';
import { profileExchange } from './profile.ts';
import { renderProfile, renderResults, renderTables } from './report.ts';
import { createRounds, type Row } from './rounds.ts';
import { judgeTargets } from './targets.ts';

/** `npm run bench`: exchanges and userinfo per second, ours beside others, in one run. */

const options = readOptions(process.argv.slice(2));
const progress = (text: string) => process.stderr.write(`${text}\n`);

async function compare(database: DatabaseServer, load: Load): Promise<Row[]> {
  const crowd = options.smoke ? 5 : undefined;
  const ours = await startOurs({ database, load, name: 'ours', processes: 2, crowd });
  const peers = await startPeers(database);
  const contenders = [...ours.contenders, ...peers];
  const measure = createMeasure({ load, databasePid: database.pid });
  const rounds = createRounds({ ...options, measure, progress });
  const rows: Row[] = [];
  if (!options.smoke) await rounds.warmUp(contenders);
  for (const one of casesOf(options)) rows.push(...(await rounds.runCase(one, contenders)));
  await Promise.all([ours, ...peers].map((contender) => contender.stop()));
  return rows;
}

async function bench(): Promise<void> {
  const before = loadAverage();
  if (before > availableParallelism()) {
    progress(
      `The machine is busy (load average ${before.toFixed(1)}): expect low figures and uncertain ratios.`,
    );
  }
  const database = await openDatabaseServer();
  const load = startLoad();

  const { smoke, whole, seconds } = options;
  const surroundings = { database, load, seconds };

  if (options.profile) {
    const directory = mkdtempSync(join(tmpdir(), 'svc-bench-profile-'));
    const summary = await profileExchange({ ...surroundings, directory });
    process.stdout.write(`${renderProfile(summary)}\n\nThe whole profile is in ${directory}\n`);
  } else {
    const ceiling = whole ? await measureCeiling(load) : undefined;
    const rows = await compare(database, load);
    const directory = temporaryDirectory();
    const profile = whole ? await profileExchange({ ...surroundings, directory }) : undefined;
    const tables = renderTables({ rows, verdicts: smoke ? [] : judgeTargets(rows), profile });
    process.stdout.write(`${smoke ? 'It works; these figures mean nothing.\n\n' : ''}${tables}\n`);
    const machine = `${describeMachine()}; load average ${before.toFixed(1)} before the run, ${loadAverage().toFixed(1)} after it`;
    const facts = { machine, versions: describeVersions(database.name), ceiling, ...options };
    if (whole) writeFileSync(join(root, 'bench/RESULTS.md'), renderResults(facts, tables));
  }
  await load.stop();
  await database.stop();
}

try {
  await bench();
  process.exit();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
  process.exit(1);
}
