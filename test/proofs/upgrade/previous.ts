import { type ExecFileSyncOptions, execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { temporaryFolder } from '../../harness/temporary-folder.ts';

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim();

/** Returns the commit of the requested revision, or else of the last release. @throws if there is neither */
function commitOf(revision: string | undefined): string {
  if (revision) return git('rev-parse', '--verify', `${revision}^{commit}`);
  try {
    return git('rev-parse', `${git('describe', '--tags', '--abbrev=0', '--match', 'v*', 'HEAD^')}^{commit}`);
  } catch {
    throw new Error('No release is tagged here: npm run check:upgrade -- REVISION');
  }
}

/** Builds another revision of this repository in a temporary folder. @returns the folder */
export function buildPrevious(revision: string | undefined): { directory: string; commit: string } {
  const commit = commitOf(revision);
  const directory = temporaryFolder('upgrade');
  const archive = execFileSync('git', ['archive', commit], { maxBuffer: 1 << 30 });
  execFileSync('tar', ['-x', '-C', directory], { input: archive });
  const options: ExecFileSyncOptions = { cwd: directory, stdio: ['ignore', 'ignore', 'inherit'] };
  const lock = 'package-lock.json';
  const isSame = readFileSync(join(directory, lock)).equals(readFileSync(lock));
  if (isSame) symlinkSync(resolve('node_modules'), join(directory, 'node_modules'));
  else execFileSync('npm', ['ci', '--no-audit', '--no-fund'], options);
  execFileSync(process.execPath, ['.config/build.mjs'], options);
  return { directory, commit };
}
