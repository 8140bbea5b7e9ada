#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const usage = `Runs SVC Gateway. Configuration is in environment variables: see docs/operations.md.

  svc-gateway            start the server
  svc-gateway check      exit with 0 where the process of this environment can serve, for health checks
  svc-gateway backup DIRECTORY
                         copy the embedded database and the generated secrets; the server is stopped
  svc-gateway restore DIRECTORY
                         put a backup in the place of the embedded database
  svc-gateway restored   make the database of MONGODB_URI safe to serve from after a restore; every process is stopped
  svc-gateway --version
  svc-gateway --help
`;

/** The exit codes for a wrong command line and a wrong configuration (sysexits.h). */
const [badUsage, badConfiguration] = [64, 78];

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

const say = (line: string) => void process.stdout.write(`${line}\n`);
const audit = 'Next: start the server, then run `svcadmin wallets audit`.';

const number = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`;

async function copy(command: 'backup' | 'restore', directory: string): Promise<void> {
  const [{ readConfig }, { backup, restore }] = await Promise.all([
    import('./platform/config/config.ts'),
    import('./backup.ts'),
  ]);
  const config = readConfig(process.env);
  if (command === 'backup') {
    const { target, files } = await backup(config, directory);
    return say(`Copied ${files} files to ${target}. It holds the master key: keep it secret.`);
  }
  const { takenAt, sessions, codes } = await restore(config, directory);
  say(
    `Restored the state of ${takenAt}; ended ${number(sessions, 'open session')} and ${number(codes, 'code')}. ${audit}`,
  );
}

async function closeRestoredDatabase(): Promise<void> {
  const { readConfig } = await import('./platform/config/config.ts');
  const { mongodbUri: uri, masterKeys: given, dataDir } = readConfig(process.env);
  if (!uri) throw new Error('set MONGODB_URI; `svc-gateway restore` does this for the embedded database');
  const { closeRestored } = await import('./restored.ts');
  const { generatedMasterKeys } = await import('./platform/config/local-secrets.ts');
  const masterKeys = given ?? generatedMasterKeys(dataDir);
  const { sessions, codes } = await closeRestored({
    uri,
    embedded: false,
    source: 'MONGODB_URI',
    masterKeys,
  });
  say(`Ended ${number(sessions, 'open session')} and ${number(codes, 'code')}. ${audit}`);
}

async function run([command, ...rest]: readonly string[]): Promise<void> {
  const [directory] = rest;
  if ((command === 'backup' || command === 'restore') && directory !== undefined && rest.length === 1)
    return copy(command, directory);
  switch (rest.length === 0 ? command : 'unknown') {
    case undefined:
    case 'start':
      await import('./main.ts');
      return;
    case 'check': {
      const { check } = await import('./check.ts');
      process.exitCode = (await check(process.env)) ? 0 : 1;
      return;
    }
    case 'restored':
      return closeRestoredDatabase();
    case '--version':
      process.stdout.write(`${version}\n`);
      return;
    case '--help':
      process.stdout.write(usage);
      return;
    default:
      process.stderr.write(usage);
      process.exitCode = badUsage;
  }
}

await run(process.argv.slice(2)).catch((error: unknown) => {
  if (!(error instanceof Error)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = error.name === 'ConfigError' ? badConfiguration : 1;
});
