import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../telemetry/logging.ts';

/** Whether the directory exists and belongs to the user of this process. `svcadmin` ignores files of another user. */
function isOurDirectory(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

/** The entry of the process that wrote the file last; empty if there is none. */
function readEntry(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // Mostly, the file does not exist yet. Any other fault shows itself when the file is written.
  }
}

/**
 * Writes the file `admin-url` in the data directory, by which `svcadmin` on this machine finds the admin listener. Does
 * nothing if the directory does not exist, or belongs to another user.
 * @returns a function to call when the listener ends; it restores the entry of another process in the same directory
 */
export function rememberAdminAddress(dataDir: string, url: string, logger: Pick<Logger, 'warn'>): () => void {
  const nothing = () => undefined;
  try {
    if (!isOurDirectory(dataDir)) return nothing;
    const path = join(dataDir, 'admin-url');
    const write = (text: string) => writeFileSync(path, text, { mode: 0o600 });
    const previous = readEntry(path);
    const current = `${url}\n`;
    write(current);
    return () => {
      if (previous !== '' && readEntry(path) === current) write(previous);
    };
  } catch (err) {
    logger.warn(
      { err },
      'svcadmin will not find this server by itself: the data directory cannot be written to',
    );
    return nothing;
  }
}
