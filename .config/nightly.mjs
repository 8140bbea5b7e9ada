// `npm run nightly` runs the long proofs, one after the other. It writes a page of results to artefacts/nightly/results.md. A
// second call on the same commit continues: a step that has passed does not run again. `-- NAME` runs single steps.
import { execFileSync, spawn } from 'node:child_process';
import { createWriteStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';

const steps = {
  build: 'node .config/build.mjs',
  tests: 'npx vitest run --project nightly',
  simulation: 'SIM_RUNS=20000 npx vitest run test/proofs/simulation',
  deliveries: 'SIM_RUNS=20000 npx vitest run test/proofs/delivery-simulation',
  // Each point once a night. `npm run faults` alone runs each 25 times, which takes most of a day.
  faults: 'npm run faults -- --runs 1',
  mutants: 'npm run mutants',
  drill: 'npm run drill',
  repeat: 'npm run test:repeat -- 10 --beside 4',
};

const folder = 'artefacts/nightly';
mkdirSync(folder, { recursive: true });
const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();

function previousResults() {
  try {
    const { commit: tested, results } = JSON.parse(readFileSync(`${folder}/results.json`, 'utf8'));
    return tested === commit ? results : {};
  } catch {
    return {};
  }
}

/** Runs a step with its output in a file. @returns its exit code, its minutes and the last line of its output */
function run(name) {
  const began = performance.now();
  const log = createWriteStream(`${folder}/${name}.log`);
  return new Promise((resolve) => {
    const child = spawn(steps[name], { shell: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let end = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.pipe(log, { end: false });
      stream.on('data', (data) => {
        end = `${end}${data}`.slice(-2_000);
      });
    }
    child.on('close', (code) => {
      log.end();
      const minutes = Number(((performance.now() - began) / 60_000).toFixed(1));
      resolve({ code, minutes, end: end.trimEnd().split('\n').at(-1) });
    });
  });
}

const results = previousResults();
function write() {
  const rows = Object.keys(steps).map((name) => {
    const { code, minutes = '', end = '' } = results[name] ?? {};
    const verdict = code === undefined ? 'not run' : code === 0 ? 'passed' : `failed (${code})`;
    return `| ${name} | ${verdict} | ${minutes} | ${end.replaceAll('|', '\\|')} |`;
  });
  const table = ['| step | result | minutes | last line |', '|---|---|--:|---|', ...rows].join('\n');
  writeFileSync(`${folder}/results.md`, `# Long proofs of ${commit}\n\n${table}\n`);
  writeFileSync(`${folder}/results.json`, JSON.stringify({ commit, results }));
}

const named = process.argv.slice(2);
for (const name of Object.keys(steps).filter((step) => named.length === 0 || named.includes(step))) {
  if (results[name]?.code === 0) continue;
  console.log(`${name} …`);
  results[name] = await run(name);
  write();
  console.log(`${name}: ${results[name].code === 0 ? 'passed' : 'failed'} in ${results[name].minutes} min`);
}
write();
console.log(`The results are in ${folder}/results.md.`);
if (Object.values(results).some(({ code }) => code !== 0)) process.exitCode = 1;
