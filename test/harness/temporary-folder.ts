import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();
/** A killed database may still hold its files for a moment. */
const removal = { recursive: true, force: true, maxRetries: 30, retryDelay: 100 };

/** An empty folder. It is removed after the calling test file, or when the program ends. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `svc-${name}-`));
  folders.add(folder);
  return folder;
}

/** Keeps a folder for manual inspection. */
export const keepFolder = (folder: string): void => void folders.delete(folder);

export function removeTemporaryFolders(): void {
  for (const folder of folders) rmSync(folder, removal);
  folders.clear();
}

process.once('exit', removeTemporaryFolders);
// An interrupted program that handles no signal still runs its exit handlers. Vitest ends its workers by itself.
for (const signal of process.env['VITEST'] ? [] : ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    if (process.listenerCount(signal) === 0) process.exit(130);
  });
