#!/usr/bin/env node
// The compiled commands lie in dist/; `npm run build` makes them.
import { runCommandLine } from '../../dist/cli/command-line.js';

process.exitCode = await runCommandLine(process.argv.slice(2), import.meta.url);
