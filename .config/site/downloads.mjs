import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

function run(program, ...parameters) {
  const { status } = spawnSync(program, parameters, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`${program} ${parameters[0]} ended with ${status}`);
}

/** The package as `npm pack` makes it: everything is below `package/`. */
function typescriptPackage(folder) {
  const made = join(folder, 'package');
  run(process.execPath, 'node_modules/typescript/bin/tsc', '-p', 'sdk/typescript', '--outDir', join(made, 'dist'));
  const { scripts: _scripts, ...described } = JSON.parse(readFileSync('sdk/typescript/package.json', 'utf8'));
  writeFileSync(join(made, 'package.json'), `${JSON.stringify(described, null, 2)}\n`);
  cpSync('sdk/typescript/README.md', join(made, 'README.md'));
  return 'package';
}

function pythonPackage(folder) {
  const filter = (path) => !path.endsWith('__pycache__');
  cpSync('sdk/python/svc_gateway', join(folder, 'svc_gateway'), { recursive: true, filter });
  return 'svc_gateway';
}

function phpPackage(folder) {
  for (const part of ['src', 'autoload.php', 'composer.json', 'README.md'])
    cpSync(`sdk/php/${part}`, join(folder, 'svc-gateway', part), { recursive: true });
  return 'svc-gateway';
}

/** The client libraries as files that partners load from the site: they have no copy of this repository. */
export function writeDownloads(target) {
  const { version } = JSON.parse(readFileSync('sdk/typescript/package.json', 'utf8'));
  mkdirSync(target, { recursive: true });
  const packages = {
    [`svc-sdk-${version}.tgz`]: typescriptPackage,
    [`svc-gateway-python-${version}.tgz`]: pythonPackage,
    [`svc-gateway-php-${version}.tgz`]: phpPackage,
  };
  for (const [name, make] of Object.entries(packages)) {
    const folder = mkdtempSync(join(tmpdir(), 'svc-download-'));
    try {
      run('tar', '-czf', resolve(target, name), '-C', folder, make(folder));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}
