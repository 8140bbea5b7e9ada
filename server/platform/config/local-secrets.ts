import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Reads a secret from a file of the data directory (mode 0600), or creates it. If two processes start at the same time,
 * both use the secret of the first one that writes.
 */
export function localSecret(dataDir: string, name: string, make: () => string): string {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const path = join(dataDir, name);
  try {
    writeFileSync(path, `${make()}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    chmodSync(path, 0o600); // The file may come from elsewhere, such as a backup, with wider permissions.
  }
  return readFileSync(path, 'utf8').trim();
}

/** The master key that was generated into `dataDir`; an empty list if there is no such file. Writes nothing. */
export function generatedMasterKeys(dataDir: string): readonly Uint8Array[] {
  const path = join(dataDir, 'master-key');
  if (!existsSync(path)) return [];
  return [new Uint8Array(Buffer.from(readFileSync(path, 'utf8').trim(), 'base64'))];
}
