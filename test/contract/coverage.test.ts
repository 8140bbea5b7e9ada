import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectGenerated } from './generated.ts';
import { interfaceRows, type Row } from './interface.ts';

const directory = new URL('.', import.meta.url);

/** Names of the rows that each file tests. */
function testedRows(): { id: string; file: string }[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.test.ts'));
  return files.sort().flatMap((file) => {
    const text = readFileSync(new URL(file, directory), 'utf8');
    return [...text.matchAll(/\brow\(\s*(['"])(.+?)\1,/g)].map(([, , id = '']) => ({ id, file }));
  });
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

function render(rows: readonly Row[], tests: ReadonlyMap<string, string>): string {
  const lines = rows.map(
    ({ id, text }) => `| ${cell(id)} | ${cell(text)} | \`test/contract/${tests.get(id) ?? 'MISSING'}\` |`,
  );
  return `# Contract coverage

Generated: \`UPDATE_DOCS=1 npx vitest run --config .config/vitest.config.ts test/contract/coverage.test.ts\`.

Every row of every table in sections 2 to 8 of [interface 0.8.0](interface-0.8.0.md), every item of its lists, every endpoint and every way to
authenticate has a test of its own, named after it. Each answer that such a test gets is held against the schemas of the contract,
unknown fields refused, and against the [OpenAPI document](openapi.json).

${rows.length} rows.

| row | what it says | test |
| --- | --- | --- |
${lines.join('\n')}
`;
}

describe('the contract suite', () => {
  const rows = interfaceRows();
  const tested = testedRows();

  it('has exactly one test for each row of the interface', () => {
    const names = tested.map(({ id }) => id);
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ id }) => !names.includes(id)).map(({ id }) => id)).toEqual([]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('is written down in docs/contract-coverage.md', async () => {
    const text = render(rows, new Map(tested.map(({ id, file }) => [id, file])));
    console.log(text.slice(text.indexOf('| row |')));
    await expectGenerated('docs/contract-coverage.md', text);
  });
});
