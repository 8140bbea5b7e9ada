import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

const server = fileURLToPath(new URL('../../../server/', import.meta.url));
const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');

/** The MongoDB version that introduced an operator, a stage or a variable. Those up to 4.2 have one entry. */
const since: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    `and or nor not eq ne gt gte lt lte in nin bit exists type size regex options elemMatch expr set setOnInsert unset inc min max
    push pop each addToSet currentDate match group sum sort skip limit count unwind project lookup collStats replaceWith ifNull cond
    mergeObjects literal filter concat concatArrays add subtract multiply slice split arrayElemAt indexOfArray dateToString
    REMOVE NOW ROOT`
      .split(/\s+/)
      .map((name) => [name, 4.2]),
  ),
  toString: 4.0,
  // `first` and `last` are older as accumulators; this is the version of the array operators.
  first: 4.4,
  last: 4.4,
  unionWith: 4.4,
  dateTrunc: 5.0,
  setWindowFields: 5.0,
  documentNumber: 5.0,
};
/** Operators that may be newer: if the database does not support one, the code sends another command. */
const optional = new Set(['documents']);

/** Operators in the code: as a key, or as a variable such as `$$NOW`. */
function operatorsOf(source: string): string[] {
  const code = source.replace(/`[^`]*`/g, '').replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, '');
  const patterns = [/(?<![\w$'"])\$([a-zA-Z]+)\s*(?=[:},])/g, /['"]\$([a-zA-Z]+)['"]\s*:/g, /\$\$([A-Z]+)/g];
  return patterns.flatMap((pattern) => [...code.matchAll(pattern)].map(([, name = '']) => name));
}

it('every database operator in use exists in the oldest documented database version', () => {
  const [, oldest = ''] = /^MongoDB (\d\.\d) is the oldest version that works/m.exec(page) ?? [];
  expect(Number(oldest)).toBeGreaterThan(4);
  const files = readdirSync(server, { recursive: true, encoding: 'utf8' }).filter((path) =>
    path.endsWith('.ts'),
  );
  const used = new Set(files.flatMap((path) => operatorsOf(readFileSync(join(server, path), 'utf8'))));
  expect(used.size).toBeGreaterThan(40);
  const tooNew = [...used].filter((name) => !optional.has(name) && !((since[name] ?? 99) <= Number(oldest)));
  expect(tooNew).toEqual([]);
});
