// `npm run test:repeat -- 10 --beside 4` runs the quick tier ten times beside four busy loops, and prints how often each test failed.
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { beside: { type: 'string', default: '0' } },
});
const [times = '10', ...files] = positionals;
const [runs, loops] = [Number(times), Number(values.beside)];
if (!Number.isInteger(runs) || runs < 1 || !Number.isInteger(loops) || loops < 0) {
  process.stderr.write('usage: npm run test:repeat -- TIMES [FILES] [--beside BUSY_LOOPS]\n');
  process.exit(64);
}

const folder = mkdtempSync(join(tmpdir(), 'svc-repeat-'));
const busy = Array.from({ length: loops }, () => spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }));
process.on('exit', () => {
  for (const loop of busy) loop.kill();
  rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(130));

/** What failed in one run, each with its first message. */
function failuresOfRun() {
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const vitest = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'quick*', '--maxWorkers=3', ...files];
  const reporters = ['--reporter=json', `--outputFile.json=${report}`];
  // Loops raise the load slowly, so the factor of the first run would be too small.
  const factor = process.env['SVC_TEST_TIMEOUT_FACTOR'] ?? String(1 + loops / 2);
  const env = { ...process.env, SVC_TEST_TIMEOUT_FACTOR: factor };
  spawnSync(process.execPath, [...vitest, ...reporters], { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const { testResults } = JSON.parse(readFileSync(report, 'utf8'));
  return testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = name.replace(`${process.cwd()}/`, '');
    const failed = assertionResults.filter((test) => test.status === 'failed');
    if (failed.length === 0 && status === 'failed') return [{ title: file, message }];
    return failed.map(({ fullName, failureMessages }) => ({
      title: `${file}: ${fullName}`,
      message: failureMessages[0] ?? '',
    }));
  });
}

const counts = new Map();
for (let run = 1; run <= runs; run += 1) {
  const began = performance.now();
  const failures = failuresOfRun();
  const seconds = Math.round((performance.now() - began) / 1000);
  console.log(`run ${run} of ${runs}: ${failures.length} failed, ${seconds} s`);
  for (const { title, message } of failures) {
    console.log(`  ${title}\n    ${message.split('\n')[0].slice(0, 200)}`);
    counts.set(title, (counts.get(title) ?? 0) + 1);
  }
}
for (const [title, count] of [...counts].sort(([, one], [, other]) => other - one)) console.log(`${count} of ${runs}: ${title}`);
console.log(`${counts.size} tests failed at least once in ${runs} runs`);
// The busy loops would keep this process.
process.exit(counts.size > 0 ? 1 : 0);
