import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from '../telemetry/logging.ts';

function isOurDirectory(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && found.uid === process.getuid?.();
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/**
 * `svcadmin` on this machine finds the admin listener by the file `admin-url` of the data directory. It is written only
 * into a directory that exists and belongs to this process's user: a server that stores nothing there makes none.
 * @returns restores the entry of another process that shares the directory; call it when this listener ends
 */
export function rememberAdminAddress(dataDir: string, url: string, logger: Pick<Logger, 'warn'>): () => void {
  const nothing = () => undefined;
  try {
    if (!isOurDirectory(dataDir)) return nothing;
    const path = join(dataDir, 'admin-url');
    const write = (text: string) => writeFileSync(path, text, { mode: 0o600 });
    const [before, mine] = [readIfThere(path), `${url}\n`];
    write(mine);
    return () => {
      if (before !== '' && readIfThere(path) === mine) write(before);
    };
  } catch (err) {
    logger.warn(
      { err },
      'svcadmin will not find this server by itself: the data directory cannot be written to',
    );
    return nothing;
  }
}
