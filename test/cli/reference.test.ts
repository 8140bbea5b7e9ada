import { readFile, writeFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { renderReference } from './reference.ts';

const file = new URL('../../docs/cli.md', import.meta.url);

describe('docs/cli.md', () => {
  it('is what the commands say', async () => {
    const reference = await renderReference();
    if (process.env['UPDATE_DOCS']) await writeFile(file, reference);
    expect(await readFile(file, 'utf8')).toBe(reference);
  });
});
