import { readdir, readFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const cli = fileURLToPath(new URL('../../../cli/', import.meta.url));
/** Files that many commands import, and that call no procedure, or only those that all roles may call. */
const shared = new Set([
  ...['program/base-command.ts', 'careful/careful-command.ts', 'connection/client.ts'],
  'list/known-records.ts',
]);
const call = /\bapi\s*\.\s*([a-zA-Z.\s]+?)\s*\.\s*(?:query|mutate)\(/g;

/** Returns the procedures that a file calls, and those called by files of `cli` that it imports. */
async function proceduresIn(path: string, seen: Set<string>): Promise<string[]> {
  if (seen.has(path)) return [];
  seen.add(path);
  const text = await readFile(path, 'utf8');
  const own = [...text.matchAll(call)].map(([, name = '']) => name.replace(/\s/g, ''));
  const imports = [...text.matchAll(/from '(\.[^']+)'/g)]
    .map(([, target = '']) => join(dirname(path), target))
    .filter((target) => target.startsWith(cli) && !shared.has(relative(cli, target)));
  const others = await Promise.all(imports.map((target) => proceduresIn(target, seen)));
  return [...own, ...others.flat()];
}

/** Returns the admin API procedures that each command's source calls. Commands that call none are omitted. */
export async function readCommandProcedures(): Promise<Record<string, string[]>> {
  const root = join(cli, 'commands');
  const files = (await readdir(root, { recursive: true })).filter((file) => file.endsWith('.ts')).sort();
  const rows = await Promise.all(
    files.map(async (file) => {
      const command = file.replace(/\.ts$/, '').replaceAll('/', ' ');
      const found = await proceduresIn(join(root, file), new Set());
      return [command, [...new Set(found)].sort()] as const;
    }),
  );
  return Object.fromEntries(
    rows.filter(([, found]) => found.length > 0).map(([name, all]) => [name, [...all]]),
  );
}

/** Returns the text of `cli/roles/procedures.ts`. */
export function renderCommandProcedures(commands: Readonly<Record<string, readonly string[]>>): string {
  const rows = Object.entries(commands).map(([command, paths]) => {
    const key = /^\w+$/.test(command) ? command : `'${command}'`;
    const line = `  ${key}: [${paths.map((path) => `'${path}'`).join(', ')}],`;
    if (line.length <= 110) return line;
    return [`  ${key}: [`, ...paths.map((path) => `    '${path}',`), '  ],'].join('\n');
  });
  return `/**
 * The procedures of the admin API that each command calls. Generated from the commands:
 * \`UPDATE_DOCS=1 npx vitest run test/cli/roles\`.
 */
export const commandProcedures: Readonly<Record<string, readonly string[]>> = {
${rows.join('\n')}
};
`;
}
