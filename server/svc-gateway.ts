#!/usr/bin/env node
import { readFileSync } from 'node:fs';

const usage = `Runs SVC Gateway. Configuration is in environment variables: see docs/operations.md.

  svc-gateway            start the server
  svc-gateway check      exit with 0 where the process of this environment can serve, for health checks
  svc-gateway --version
  svc-gateway --help
`;

/** sysexits.h: the command line, or the configuration, is wrong. */
const [badUsage, badConfiguration] = [64, 78];

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

async function run([command, ...rest]: readonly string[]): Promise<void> {
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
  if (!(error instanceof Error && error.name === 'ConfigError')) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = badConfiguration;
});
