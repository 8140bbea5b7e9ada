import { it } from 'vitest';
import { expectGenerated } from '../contract/generated.ts';
import { renderReference } from './reference.ts';

it.each([
  ['docs/cli.md', 'svcadmin'],
  ['docs/svc.md', 'svc'],
] as const)('%s is the generated reference of the compiled commands of %s', async (page, program) => {
  const reference = await renderReference(program);
  await expectGenerated(page, reference);
});
