import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
let partnerId: string;
beforeAll(async () => {
  server = await startTestServer({ env: { SVC_PORTAL: 'on' } });
  svcadmin = await commandLine(server.adminUrl);
  ({ id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' }));
});
afterAll(() => server.stop());

const commands = fileURLToPath(new URL('../../../cli/commands', import.meta.url));
/** All commands that are lists, by their names. */
const lists = readdirSync(commands, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .filter((path) => readFileSync(`${commands}/${path}`, 'utf8').includes('extends ListCommand'))
  .map((path) => path.replace(/\.ts$/, '').replaceAll('/', ' '))
  .sort();

/** The arguments that some lists need. */
const argumentsOf = (name: string): string[] => {
  if (name === 'limits history' || name === 'members list') return [partnerId];
  if (name === 'users find') return ['nobody'];
  return name === 'enrollments list' ? ['--partner', partnerId] : [];
};

describe('a list without rows', () => {
  it.each(lists)('%s refuses an unknown column in --columns, --where and --by', async (name) => {
    for (const [flag, value] of [
      ['--columns', 'colour'],
      ['--where', 'colour=red'],
      ['--by', 'colour'],
    ] as const) {
      const ended = await svcadmin.run([...name.split(' '), ...argumentsOf(name), flag, value]);
      expect(ended, ended.stderr).toMatchObject({ code: 2, stdout: '' });
      expect(ended.stderr).toContain('colour is not a column of this list');
    }
  });

  it('accepts each column that a row would have', async () => {
    const none = ['--partner', partnerId];
    for (const flag of [
      ['--columns', 'id,Old secret until'],
      ['--where', 'redirectUris=x'],
      ['--by', 'mode'],
    ])
      expect(await svcadmin.run(['clients', 'list', ...none, ...flag])).toMatchObject({ code: 0 });
    const statement = ['wallets', 'statement', partnerId, '--by'];
    expect(await svcadmin.run([...statement, 'kind'])).toMatchObject({ code: 0 });
    expect(await svcadmin.run([...statement, 'colour'])).toMatchObject({ code: 2 });
  });
});
