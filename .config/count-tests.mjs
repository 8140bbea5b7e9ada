/**
 * How much of the tests' code is support: what tests lean on and is neither a test nor a program that judges the service by
 * itself, as `npm run faults` does. Fails where it is more than a fifth of tests and support together.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const proofs = [
  ...['bulk-load', 'capacity', 'code-path', 'drill', 'faults', 'growth', 'mutants', 'neighbours', 'upgrade'],
];
const programs = ['journey', ...proofs.map((name) => `proofs/${name}`)];
const most = 0.2;

const kindOf = (path) => {
  if (path.endsWith('.test.ts')) return 'tests';
  return programs.some((name) => path.startsWith(`${name}/`)) ? 'programs' : 'support';
};

const lines = { tests: 0, support: 0, programs: 0 };
const root = new URL('../test/', import.meta.url).pathname;
for (const path of readdirSync(root, { recursive: true })) {
  if (path.endsWith('.ts')) lines[kindOf(path)] += readFileSync(join(root, path), 'utf8').split('\n').length - 1;
}

const share = lines.support / (lines.tests + lines.support);
console.log(
  `tests ${lines.tests} lines, support ${lines.support} (${(100 * share).toFixed(1)} %), programs ${lines.programs}`,
);
if (share > most) process.exitCode = 1;
