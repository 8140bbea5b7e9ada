import { mkdtempSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { idTokenAlgs } from '../contracts/openid.ts';
import { casesOf } from './cases.ts';
import { measureCliStartup } from './cli-startup.ts';
import { idleCommands } from './commands.ts';
import { usualPartners } from './contenders/contender.ts';
import { startOurs } from './contenders/ours.ts';
import { startPeers } from './contenders/peer.ts';
import { type DatabaseServer, openDatabaseServer } from './database.ts';
import { measureFairness } from './fairness/fairness.ts';
import { measureFlows } from './flows/flows.ts';
import { measureHotWallet } from './hot/hot.ts';
import { measurePresentations } from './identity-wallet-presentations.ts';
import { measureCeiling } from './load/ceiling.ts';
import { type Load, startLoad } from './load/load.ts';
import { describeMachine, describeVersions, loadAverage } from './machine.ts';
import { createMeasure } from './measure.ts';
import { readOptions } from './options.ts';
import { measureOverload } from './overload/overload.ts';
import { root, temporaryDirectory } from './processes.ts';
import { profileExchange } from './profile.ts';
import { type Figures, renderProfile, renderTables } from './report.ts';
import { renderResults } from './results.ts';
import { createRounds, type Row } from './rounds.ts';
import {
  checkCli,
  checkFairness,
  checkFlows,
  checkHotWallet,
  checkOverload,
  checkPresentations,
  checkRequests,
  checkWebhooks,
} from './targets.ts';
import { measureQueues } from './webhooks/queues/queues.ts';
import { measureWebhooks } from './webhooks/webhooks.ts';

/**
 * `npm run bench`: measures exchanges and userinfo per second, ours and others', in one run. It also measures whole
 * flows of users, one wallet with several processes, a partner beside one at its cap, webhooks, and the duration of
 * `svcadmin`.
 */

const options = readOptions(process.argv.slice(2));
const progress = (text: string) => process.stderr.write(`${text}\n`);

async function compare(database: DatabaseServer, load: Load): Promise<Row[]> {
  const cases = casesOf(options);
  if (cases.length === 0) return [];
  const partnerCount = options.smoke ? 5 : undefined;
  const { beside, openid } = options;
  const common = { database, load, processes: [1], partnerCount, usual: partnerCount ?? usualPartners };
  const ours = await startOurs({ ...common, name: 'ours' });
  const other = beside === undefined ? [] : [await startOurs({ ...common, name: 'beside', beside })];
  for (const idToken of openid ? idTokenAlgs : [])
    other.push(await startOurs({ ...common, name: `openid-${idToken}`, idToken }));
  const peers = await startPeers(database);
  const contenders = [...ours.contenders, ...other.flatMap((each) => each.contenders), ...peers];
  const db = database.db('ours');
  const measure = createMeasure({ load, databasePid: database.pid, db, idle: await idleCommands(db) });
  const rounds = createRounds({ ...options, measure, progress });
  const rows: Row[] = [];
  if (!options.smoke) await rounds.warmUp(contenders);
  for (const one of cases) rows.push(...(await rounds.runCase(one, contenders)));
  await Promise.all([ours, ...other, ...peers].map((contender) => contender.stop()));
  return rows;
}

/** Runs the requested parts one after another. */
async function measure(database: DatabaseServer, load: Load): Promise<Figures> {
  const { smoke, whole, rounds, seconds, sections } = options;
  const rows = await compare(database, load);
  const directory = temporaryDirectory();
  const profile = whole ? await profileExchange({ database, load, seconds, directory }) : undefined;
  const hot = sections.has('hot')
    ? await measureHotWallet({ database, load, rounds, seconds, smoke, progress })
    : undefined;
  const overload = sections.has('overload')
    ? await measureOverload({ database, load, seconds, smoke, progress })
    : undefined;
  const flows = sections.has('flows')
    ? await measureFlows({ database, load, rounds, seconds, smoke, beside: options.beside, progress })
    : undefined;
  const fairness = sections.has('fairness')
    ? await measureFairness({ database, load, rounds, smoke, progress })
    : undefined;
  const webhooks = sections.has('webhooks')
    ? await measureWebhooks({ database, load, smoke, progress })
    : undefined;
  const queues = sections.has('webhooks')
    ? await measureQueues({ database, rounds, smoke, progress })
    : undefined;
  const cli = sections.has('cli') ? await measureCliStartup({ database, load, smoke }) : undefined;
  const wallets = sections.has('wallets') ? await measurePresentations(smoke ? 5 : undefined) : undefined;
  const verdicts = [
    ...checkRequests(rows),
    ...(hot ? checkHotWallet(hot) : []),
    ...(overload ? checkOverload(overload) : []),
    ...(flows ? checkFlows(flows.rows) : []),
    ...(fairness ? checkFairness(fairness) : []),
    ...(webhooks ? checkWebhooks(webhooks) : []),
    ...(cli ? checkCli(cli) : []),
    ...(wallets ? checkPresentations(wallets) : []),
  ];
  return {
    rows,
    verdicts: smoke ? [] : verdicts,
    profile,
    hot,
    overload,
    flows,
    fairness,
    webhooks,
    queues,
    cli,
    wallets,
  };
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

  if (options.profile) {
    const directory = mkdtempSync(join(tmpdir(), 'svc-bench-profile-'));
    const summary = await profileExchange({ database, load, seconds, directory });
    process.stdout.write(`${renderProfile(summary)}\n\nThe whole profile is in ${directory}\n`);
  } else {
    const ceiling = whole ? await measureCeiling(load) : undefined;
    const tables = renderTables(await measure(database, load));
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
