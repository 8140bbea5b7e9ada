import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folders = new Set<string>();
/** A database that was killed is still letting go of its files. */
const removal = { recursive: true, force: true, maxRetries: 30, retryDelay: 100 };

/** An empty folder. It is removed after the test file that asked for it, or when the program ends. */
export function temporaryFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `svc-${name}-`));
  folders.add(folder);
  return folder;
}

/** Leaves a folder in place, for a person to read. */
export const keepFolder = (folder: string): void => void folders.delete(folder);

export function removeTemporaryFolders(): void {
  for (const folder of folders) rmSync(folder, removal);
  folders.clear();
}

process.once('exit', removeTemporaryFolders);
// A program that is interrupted, and does nothing about it itself, still comes to its exit. Vitest ends its workers by itself.
for (const signal of process.env['VITEST'] ? [] : ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    if (process.listenerCount(signal) === 0) process.exit(130);
  });
