import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Variables } from '../../contracts/settings.ts';

/** The address and token in the data directory of a server on this machine. */
export interface LocalServer {
  dataDir: string;
  token: string | undefined;
  url: string | undefined;
  /** Whether SVC_DATA_DIR names the directory. Otherwise it was found in the working directory or a parent of it. */
  isFromVariable: boolean;
}

/** What determines which directory is found. */
interface Environment {
  env: Variables;
  cwd: string;
  /** Id of the user who runs the command. Undefined if the system has no such ids. */
  uid: number | undefined;
}

/** The error for a file or directory that another user may have written. */
class Distrusted extends Error {}

const writableByOthers = 0o022;

/** @throws Distrusted if another user owns the file, or others can write to it */
function requireOwnedBy({ uid: owner, mode }: Stats, uid: number | undefined): void {
  // On Windows, files have neither owners nor these modes.
  if (uid === undefined) return;
  if (owner !== uid) throw new Distrusted('it belongs to another user');
  if ((mode & writableByOthers) !== 0) throw new Distrusted('others can write to it');
}

/**
 * Returns the only line of a file; undefined if the file cannot be opened, because it does not exist for instance.
 * @param check throws if the file is not to be trusted. It gets the opened file, so that the same file is checked and read
 */
function readLine(path: string, check: (file: Stats) => void): string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(path, 'r');
  } catch {
    return undefined;
  }
  try {
    check(fstatSync(descriptor));
    return readFileSync(descriptor, 'utf8').trim() || undefined;
  } finally {
    closeSync(descriptor);
  }
}

function readDirectory(dataDir: string, check: (file: Stats) => void) {
  return {
    dataDir,
    token: readLine(join(dataDir, 'admin-token'), check),
    url: readLine(join(dataDir, 'admin-url'), check),
  };
}

interface FoundServer {
  local: LocalServer | undefined;
  /** A sentence for each ignored directory. */
  ignored: string[];
}

/** Returns a directory and its parents, up to the root. */
function withParents(directory: string): string[] {
  const parent = dirname(directory);
  return parent === directory ? [directory] : [directory, ...withParents(parent)];
}

/**
 * Finds the data directory of a local server: SVC_DATA_DIR, or the nearest `.svc` with a token in the working directory or its
 * parents. A `.svc` that other users own or can write is ignored, because another user could put a false address into it.
 */
export function findLocalServer({ env, cwd, uid }: Environment): FoundServer {
  const ignored: string[] = [];
  if (env['SVC_DATA_DIR']) {
    const dataDir = resolve(cwd, env['SVC_DATA_DIR']);
    // The person has named the directory, and so trusts it.
    const trust = () => undefined;
    return { local: { ...readDirectory(dataDir, trust), isFromVariable: true }, ignored };
  }
  const requireOwn = (file: Stats) => requireOwnedBy(file, uid);
  for (const directory of withParents(cwd)) {
    const dataDir = join(directory, '.svc');
    try {
      const state = statSync(dataDir, { throwIfNoEntry: false });
      if (!state?.isDirectory()) continue;
      requireOwn(state);
      const local = readDirectory(dataDir, requireOwn);
      if (local.token !== undefined) return { local: { ...local, isFromVariable: false }, ignored };
    } catch (error) {
      const reason = error instanceof Distrusted ? error.message : 'it cannot be read';
      ignored.push(`${dataDir} is ignored: ${reason}. If it is yours: chmod -R go-w ${dataDir}`);
    }
  }
  return { local: undefined, ignored };
}
