// Completes package-lock.json after `npm install`. A registry that serves only this platform's binaries makes
// npm leave the other platforms' optional packages out, and `npm ci` then refuses the lock file everywhere.
// Their exact versions stand in their parents' manifests; operating system and processor are in their names. The registry
// is asked for each one's digest: without `integrity`, `npm ci` would install whatever it is served.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

const systems = ['aix', 'android', 'darwin', 'freebsd', 'linux', 'netbsd', 'openbsd', 'openharmony', 'sunos', 'win32'];
const processors = { arm64: 'arm64', x64: 'x64', ia32: 'ia32', arm: 'arm', ppc64: 'ppc64', riscv64: 'riscv64', s390x: 's390x', loong64: 'loong64', wasm32: 'wasm32' };
const exact = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

const path = process.argv[2] ?? 'package-lock.json';
const lock = JSON.parse(readFileSync(path, 'utf8'));

/** Whether `name` resolves from the package at `from`, walking up its node_modules. */
function resolves(from, name) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('node_modules/') - 1))) {
    if (lock.packages[`${at === '' ? '' : `${at}/`}node_modules/${name}`]) return true;
    if (at === '') return false;
  }
}

function platformOf(name) {
  const words = name.split(/[/-]/);
  const os = systems.filter((system) => words.includes(system));
  const cpu = Object.keys(processors).filter((processor) => words.some((word) => word === processor || word.startsWith(`${processor}hf`)));
  const libc = words.some((word) => /^musl/.test(word)) ? ['musl'] : words.some((word) => /^gnu/.test(word)) ? ['glibc'] : undefined;
  const arm = words.includes('arm') && cpu.length === 0 ? ['arm'] : [];
  return { ...(os.length > 0 ? { os } : {}), ...(cpu.length + arm.length > 0 ? { cpu: [...cpu, ...arm] } : {}), ...(libc ? { libc } : {}) };
}

/** The digest of a published package. Ends the program where the registry has none. */
function integrityOf(name, version) {
  try {
    const answer = execFileSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
    if (/^sha512-\S+$/.test(answer)) return answer;
  } catch {
    // The registry does not know it.
  }
  console.error(`${name}@${version}: the registry has no digest. Pin a version of which it has all platforms.`);
  return process.exit(1);
}

let added = 0;
for (const [from, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    if (from === '' || !exact.test(version) || resolves(from, name)) continue;
    const inherited = entry.dev ? { dev: true } : {};
    const integrity = integrityOf(name, version);
    lock.packages[`node_modules/${name}`] = { version, integrity, ...platformOf(name), ...inherited, optional: true };
    added += 1;
  }
}
const { '': root, ...others } = lock.packages;
const sorted = Object.entries(others).sort(([a], [b]) => a.localeCompare(b, 'en'));
lock.packages = { '': root, ...Object.fromEntries(sorted) };
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} packages of other platforms added`);
