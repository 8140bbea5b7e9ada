import { readFile, writeFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { renderReference } from './reference.ts';

it.each([
  ['docs/cli.md', 'svcadmin'],
  ['docs/svc.md', 'svc'],
] as const)('%s is the generated reference of the compiled commands of %s', async (page, program) => {
  const file = new URL(`../../${page}`, import.meta.url);
  const reference = await renderReference(program);
  if (process.env['UPDATE_DOCS']) await writeFile(file, reference);
  expect(await readFile(file, 'utf8')).toBe(reference);
});
