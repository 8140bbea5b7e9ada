// `npm run t -- NAME`: the test files whose path contains NAME or, where there is none, the tests whose title does. What
// else is given goes to vitest: `npm run t -- NAME --watch`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

const [name, ...options] = process.argv.slice(2);
if (!name) {
  process.stderr.write('usage: npm run t -- PART_OF_A_PATH_OR_TITLE [options of vitest]\n');
  process.exit(64);
}
const tracked = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'test'], { encoding: 'utf8' }).split('\n');
const files = tracked.filter((path) => path.endsWith('.test.ts'));
const byPath = files.filter((path) => path.includes(name));
const found = byPath.length > 0 ? byPath : files.filter((path) => readFileSync(path, 'utf8').includes(name));
if (found.length === 0) {
  process.stderr.write(`No test file has "${name}" in its path or its titles.\n`);
  process.exit(1);
}
const pattern = byPath.length > 0 ? [] : ['-t', name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')];

function run(program, ...parameters) {
  const { status } = spawnSync(process.execPath, [program, ...parameters], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

// Tests import the sources. Only the database engine, and what starts whole programs, is built code.
const needsBuild = /dist\//;
if (!existsSync('dist/.built') || found.some((path) => path.startsWith('test/cli/') || needsBuild.test(readFileSync(path, 'utf8'))))
  run('.config/build.mjs');
run('node_modules/vitest/vitest.mjs', 'run', ...found, ...pattern, ...options);
