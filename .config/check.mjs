// Runs every static check, as many at once as there are processors. Prints the output of those that fail, and the seconds of each.
// `npm run check -- nodes deploy` runs the named ones too, which take minutes.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

/** The longest first, so that the others run beside it. */
const fast = ['promises', 'types', 'bench', 'imports', 'unused', 'format', 'openapi', 'docs', 'lockfile'];
const checks = [...process.argv.slice(2), ...fast];

const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
const env = { ...process.env, PATH: `node_modules/.bin:${process.env.PATH}` };

/** @returns the exit code of one check */
function run(name) {
  const began = performance.now();
  return new Promise((resolve) => {
    const child = spawn(scripts[`check:${name}`], { shell: true, env });
    let output = '';
    const collect = (data) => {
      output += data;
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    child.on('close', (code) => {
      const seconds = ((performance.now() - began) / 1000).toFixed(0).padStart(3);
      process.stdout.write(`${code === 0 ? '✓' : '✗'} ${name.padEnd(10)} ${seconds} s\n${code === 0 ? '' : output}`);
      resolve(code);
    });
  });
}

const unknown = checks.filter((name) => !scripts[`check:${name}`]);
if (unknown.length > 0) throw new Error(`there is no check ${unknown.join(', ')}`);
const waiting = [...checks];
const codes = [];
async function work() {
  for (let name = waiting.shift(); name; name = waiting.shift()) codes.push(await run(name));
}
await Promise.all(Array.from({ length: availableParallelism() }, work));
if (codes.some((code) => code !== 0)) process.exitCode = 1;
