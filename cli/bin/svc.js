#!/usr/bin/env node
import { existsSync } from 'node:fs';

// The commands are compiled into dist/.
const commandLine = new URL('../../dist/cli/program/command-line.js', import.meta.url);
if (!existsSync(commandLine)) {
  process.stderr.write('svc is not built yet: run `npm run build` first\n');
  process.exit(1);
}
const { runCommandLine } = await import(commandLine.href);
process.exitCode = await runCommandLine(process.argv.slice(2), 'svc');
