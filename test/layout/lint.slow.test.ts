import { readFileSync } from 'node:fs';
import { ESLint } from 'eslint';
import { expect, it } from 'vitest';

const path = 'server/process/wiring/services.ts';
const source = readFileSync(path, 'utf8');
/** The rules of the wiring need no types. */
const rules = ['no-restricted-syntax', '@typescript-eslint/no-use-before-define'];
const eslint = new ESLint({
  overrideConfigFile: '.config/eslint.config.js',
  ruleFilter: ({ ruleId }) => rules.includes(ruleId),
});

async function faultsOf(text: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(text, { filePath: path });
  return result?.messages.map(({ ruleId }) => ruleId) ?? ['no result'];
}

it('the wiring has neither logic nor a name that is used before its definition', async () => {
  expect(await faultsOf(source)).toEqual([]);
  const early = source.replace('resume: webhooks.resume,', 'resume: (id: string) => later.resume(id),');
  expect(
    await faultsOf(early.replace('  const account = ', '  const later = webhooks;\n  const account = ')),
  ).toEqual(['@typescript-eslint/no-use-before-define']);
  const logic = source.replace(
    '  const account = ',
    "  if (config.portal) throw new Error('no');\n  const account = ",
  );
  expect(await faultsOf(logic)).toContain('no-restricted-syntax');
});
