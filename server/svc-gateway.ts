#!/usr/bin/env node
import { version } from './platform/version.ts';

const usage = `Runs SVC Gateway. Configuration is in environment variables: see docs/operations.md.

  svc-gateway            start the server
  svc-gateway check      exit with 0 where the process of this environment can serve, for health checks
  svc-gateway backup DIRECTORY
                         copy the embedded database and the generated secrets; the server is stopped
  svc-gateway restore DIRECTORY
                         put a backup in the place of the embedded database
  svc-gateway restored   make the database of MONGODB_URI safe to serve from after a restore; every process is stopped
  svc-gateway restored --compare OLD [--json]
                         list the changes and ledger entries of the database OLD that the restored one lacks, by partner;
                         OLD is a MONGODB_URI, or a directory of the embedded database; nothing is changed
  svc-gateway --version
  svc-gateway --help
`;

/** The exit codes for a wrong command line and a wrong configuration (sysexits.h). */
const [badUsage, badConfiguration] = [64, 78];

const say = (line: string) => void process.stdout.write(`${line}\n`);
const nextStep =
  'Next: start the server with SVC_ADMIN_TOKEN, run `svcadmin wallets audit`, and give operators new tokens.';

/** Writes a count with its noun in the right number, such as `1 code` or `2 codes`. */
const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

/** Modules are loaded only by the command that needs them. */
async function readConfiguration() {
  const { readConfig } = await import('./platform/config/config.ts');
  return readConfig(process.env);
}

async function backUp(directory: string): Promise<void> {
  const { backup } = await import('./process/backup/backup.ts');
  const { target, files } = await backup(await readConfiguration(), directory);
  say(`Copied ${files} files to ${target}. It holds the master key: keep it secret.`);
}

const describeEnded = (ended: { sessions: number; codes: number; operators: number }) =>
  `${counted(ended.sessions, 'open session')} and ${counted(ended.codes, 'code')}, and ${counted(ended.operators, 'operator token')}`;

async function restoreFrom(directory: string): Promise<void> {
  const { restore } = await import('./process/backup/backup.ts');
  const { takenAt, ...ended } = await restore(await readConfiguration(), directory);
  say(`Restored the state of ${takenAt}; ended ${describeEnded(ended)}. ${nextStep}`);
}

/** Ends the sessions and codes of a database that was restored with the tools of MongoDB. `restore` does this by itself. */
async function endRestoredSessions(): Promise<void> {
  const { mongodbUri: uri, masterKeys: configuredKeys, dataDir } = await readConfiguration();
  if (!uri) throw new Error('set MONGODB_URI; `svc-gateway restore` does this for the embedded database');
  const { closeRestored } = await import('./process/backup/restored.ts');
  const { generatedMasterKeys } = await import('./platform/config/local-secrets.ts');
  const masterKeys = configuredKeys ?? generatedMasterKeys(dataDir);
  const ended = await closeRestored({
    uri,
    embedded: false,
    source: 'MONGODB_URI',
    masterKeys,
  });
  say(`Ended ${describeEnded(ended)}. ${nextStep}`);
}

/** Lists what the old database has and the restored one lacks. */
async function compareWith(old: string, asJson: boolean): Promise<void> {
  const { compareWithOld } = await import('./process/backup/old-database.ts');
  const { renderLost } = await import('./process/backup/lost-table.ts');
  const lost = await compareWithOld(await readConfiguration(), old);
  if (asJson) say(JSON.stringify(lost, null, 2));
  else for (const line of renderLost(lost)) say(line);
}

async function checkProcess(): Promise<void> {
  const { check } = await import('./process/check.ts');
  process.exitCode = (await check(process.env)) ? 0 : 1;
}

const commands = new Map<string, () => unknown>([
  ['start', () => import('./main.ts')],
  ['check', checkProcess],
  ['restored', endRestoredSessions],
  ['--version', () => say(version)],
  ['--help', () => process.stdout.write(usage)],
]);
const commandsOnDirectory = new Map<string, (directory: string) => unknown>([
  ['backup', backUp],
  ['restore', restoreFrom],
]);

async function run([command = 'start', directory, ...surplus]: readonly string[]): Promise<void> {
  const [old, format, ...more] = surplus;
  const isFormat = format === undefined || format === '--json';
  if (command === 'restored' && directory === '--compare' && old && isFormat && more.length === 0) {
    await compareWith(old, format === '--json');
    return;
  }
  const act = commands.get(command);
  const actOnDirectory = commandsOnDirectory.get(command);
  if (act && directory === undefined) {
    await act();
  } else if (directory === '--help' && surplus.length === 0) {
    process.stdout.write(usage);
  } else if (actOnDirectory && directory && !directory.startsWith('-') && surplus.length === 0) {
    await actOnDirectory(directory);
  } else {
    process.stderr.write(usage);
    process.exitCode = badUsage;
  }
}

await run(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.name === 'ConfigError' ? badConfiguration : 1;
});
