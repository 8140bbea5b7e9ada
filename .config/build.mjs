// Builds what `npm start` and the programs of test/ run into dist/, where anything has changed since the last build.
// `npm run build -- --force` builds in any case. It does not check types, which takes most of the time: `npm run check` does.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const project = 'tsconfig.build.json';
const stamp = 'dist/.built';
const settings = ['package.json', 'package-lock.json', 'tsconfig.json', project];
/** The client libraries, which the site has as downloads; not what tests leave beside them. */
const sdk = ['typescript/src', 'typescript/package.json', 'php/src', 'python/svc_gateway/client.py'].map(
  (path) => `sdk/${path}`,
);
/** What the build runs, and the pages that it renders. */
const steps = ['.config/build.mjs', '.config/copy-assets.mjs', '.config/site', 'docs', ...sdk];
const lock = 'dist/.building';

function filesIn(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path)
    .sort()
    .flatMap((name) => filesIn(join(path, name)));
}

/** Changes with the name and the content of every file that a build reads. */
function fingerprint() {
  const { include } = JSON.parse(readFileSync(project, 'utf8'));
  const hash = createHash('sha256').update(process.version);
  for (const path of [...include, ...settings, ...steps].flatMap(filesIn))
    hash.update(`\0${path}\0`).update(readFileSync(path));
  return hash.digest('hex');
}

function read(path) {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Ends the build with one sentence if the directory cannot be written to. */
function refuse(error) {
  if (!['EACCES', 'EROFS', 'EPERM', 'ENOSPC', 'EEXIST', 'ENOTDIR'].includes(error.code)) throw error;
  const reason = `${error.code} ${error.path ?? 'dist'}`;
  process.stderr.write(`The code has changed since the last build, and dist/ cannot be written (${reason}).\n`);
  process.stderr.write('Run `npm run build` once as a user who may write here.\n');
  process.exit(1);
}

/** Waits for a build that is under way in another terminal: two would write the same files. */
async function takeLock() {
  try {
    mkdirSync('dist', { recursive: true });
  } catch (error) {
    refuse(error);
  }
  for (let told = false; ; ) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      process.on('exit', () => rmSync(lock, { force: true }));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') refuse(error);
    }
    const holder = Number(read(lock));
    if (holder > 0 && !isAlive(holder)) rmSync(lock, { force: true });
    else if (!told) process.stderr.write('Waiting for the build in another terminal …\n');
    told = true;
    await sleep(200);
  }
}

async function build() {
  const isForced = process.argv.includes('--force');
  const isBuilt = () => !isForced && read(stamp) === fingerprint();
  // A user who may not write here can still start what is built.
  if (isBuilt()) return;
  await takeLock();
  if (isBuilt()) return;
  const wanted = fingerprint();
  process.stderr.write('Building SVC Gateway …\n');
  const began = performance.now();
  rmSync(stamp, { force: true });
  const tsc = 'node_modules/@typescript/native/bin/tsc';
  const { status } = spawnSync(process.execPath, [tsc, '-p', project], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
  await import('./copy-assets.mjs');
  writeFileSync(stamp, wanted);
  process.stderr.write(`Built in ${Math.ceil((performance.now() - began) / 1000)} s.\n`);
}

await build();
