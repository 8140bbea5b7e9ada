import { readFile, writeFile } from 'node:fs/promises';
import { expect } from 'vitest';

const root = new URL('../../', import.meta.url);

/** Compares a committed file with its generated text. `UPDATE_DOCS=1` writes the file instead. */
export async function expectGenerated(path: string, text: string): Promise<void> {
  const file = new URL(path, root);
  if (process.env['UPDATE_DOCS']) await writeFile(file, text);
  const committed = await readFile(file, 'utf8').catch(() => '');
  expect(committed, `${path} is not up to date: run npm run update:docs`).toBe(text);
}
