import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { expectGenerated } from './generated.ts';
import { interfaceRows, type Row } from './interface.ts';
import { proseLines } from './prose.ts';

const directory = new URL('.', import.meta.url);

/** Finds the rules that each test file of this folder names. */
function testedRows(): { id: string; file: string }[] {
  const files = readdirSync(directory).filter((name) => name.endsWith('.test.ts'));
  return files.sort().flatMap((file) => {
    const text = readFileSync(new URL(file, directory), 'utf8');
    return [...text.matchAll(/\brule\(\s*(['"])(.+?)\1,/g)].map(([, , id = '']) => ({ id, file }));
  });
}

function render(rows: readonly Row[], tests: ReadonlyMap<string, string>): string {
  const items = rows.map(({ id, text }) =>
    proseLines(`- **${id}**${text && `: ${text}`} (\`${tests.get(id) ?? 'MISSING'}\`)`, '  '),
  );
  return `# Contract coverage

Generated: \`UPDATE_DOCS=1 npx vitest run test/contract/coverage.test.ts\`.

Each rule in sections 2 to 8 of [interface 0.8.0](interface-0.8.0.md) has a test of its own.
The title of the test ends with the section.
A rule is a row of a table, an item of a list, an endpoint, or a way to authenticate.
Each such test compares the answer with the schemas of the contract, without unknown fields.
It also compares the answer with the [OpenAPI document](openapi.json).

There are ${rows.length} rules. Each rule names its test file in \`test/contract/\`.

${items.join('\n')}
`;
}

describe('the tests of the interface', () => {
  const rows = interfaceRows();
  const tested = testedRows();

  it('are exactly one for each row of the interface', () => {
    const names = tested.map(({ id }) => id);
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter(({ id }) => !names.includes(id)).map(({ id }) => id)).toEqual([]);
    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });

  it('are listed in docs/contract-coverage.md', async () => {
    const text = render(rows, new Map(tested.map(({ id, file }) => [id, file])));
    if (process.env['SHOW_COVERAGE']) console.log(text.slice(text.indexOf('There are')));
    await expectGenerated('docs/contract-coverage.md', text);
  });
});
