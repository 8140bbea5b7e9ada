import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../telemetry/logging.ts';

function isOurDirectory(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
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
    const previous = readOrEmpty(path);
    const current = `${url}\n`;
    write(current);
    return () => {
      if (previous !== '' && readOrEmpty(path) === current) write(previous);
    };
  } catch (err) {
    logger.warn(
      { err },
      'svcadmin will not find this server by itself: the data directory cannot be written to',
    );
    return nothing;
  }
}
