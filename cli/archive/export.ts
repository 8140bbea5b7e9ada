import { existsSync, writeFileSync } from 'node:fs';
import * as Flags from '@oclif/core/flags';
import { usageError } from '../errors/failure.ts';
import { readReason } from '../flags/flags.ts';
import { packFiles } from './tar.ts';

/** The name of a file in the archive, without `.json`, with the read of its content. */
export type Reads = Readonly<Record<string, () => Promise<unknown>>>;

/**
 * A flag for the path of an archive. A name such as `person.json` is refused, because no program opens the archive by it. A name
 * without an extension, or with one that is no format, such as `acme-2026.07`, passes.
 */
const archivePath = Flags.custom<string>({
  helpValue: 'FILE.tar.gz',
  async parse(path) {
    const isOther = /\.[a-z][a-z\d]{1,4}$/i.test(path) && !/\.(tar\.gz|tgz)$/i.test(path);
    if (!isOther) return path;
    const named = path.replace(/(\.tar|\.json)?\.\w+$/i, '.tar.gz');
    throw usageError(`${path} is not the name of a .tar.gz, which an export writes`, `Name it ${named}.`);
  },
});

/** The flags of an export. */
export const archiveFlags = {
  'out-file': archivePath({ description: 'the new archive (0600), .tar.gz or .tgz', required: true }),
  reason: readReason,
};

const existsAlready = (path: string) => usageError(`${path} exists; an export goes to a new file`);

/** Refuses a file that exists before anything is read. @throws CommandError */
export function requireNewFile(path: string): void {
  if (existsSync(path)) throw existsAlready(path);
}

/**
 * Reads everything one after the other, and writes it to a new archive that only this person may read.
 * @param onRead called with each name and its number of records, for progress
 * @throws CommandError if the file exists or cannot be written
 */
export async function writeArchive(
  path: string,
  reads: Reads,
  onRead: (name: string, records: number) => void,
): Promise<Record<string, number>> {
  const files: Record<string, string> = {};
  const counts: Record<string, number> = {};
  for (const [name, read] of Object.entries(reads)) {
    const content = await read();
    const count = Array.isArray(content) ? content.length : 1;
    files[`${name}.json`] = `${JSON.stringify(content, null, 2)}\n`;
    counts[name] = count;
    onRead(name, count);
  }
  try {
    writeFileSync(path, packFiles(files, new Date()), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw code === 'EEXIST' ? existsAlready(path) : usageError(message);
  }
  return counts;
}
