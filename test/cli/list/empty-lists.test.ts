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
  if (name === 'users find') return ['0'.repeat(43)];
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

describe('a list without rows, of a record that does not exist', () => {
  const id = '0'.repeat(22);
  /** The lists that have a flag, with an id that no record has, and what the refusal says. */
  const cases = [
    ['partner', `ptr_${id}`, `No partner ptr_${id}`],
    ['key', `key_${id}`, `No API key key_${id}`],
    ['client', `cli_${id}`, `No client cli_${id}`],
    ['target', `cli_${id}`, `No client cli_${id}`],
    ['target', `ptr_${id}:live`, `No partner ptr_${id}`],
  ] as const;
  const withFlag = (flag: string) =>
    lists.filter((name) => {
      const source = readFileSync(`${commands}/${name.replaceAll(' ', '/')}.ts`, 'utf8');
      const filters = ['deliveries list', 'events list'].includes(name) ? ['partner', 'key'] : [];
      const ofRequests = name === 'requests list' ? ['partner', 'client'] : [];
      // `users find` needs two more flags with a client.
      return (
        name !== 'users find' &&
        ([...filters, ...ofRequests].includes(flag) || source.includes(`    ${flag}: Flags.string(`))
      );
    });

  it.each(cases)('is refused with --%s %s', async (flag, value, message) => {
    expect(withFlag(flag)).not.toEqual([]);
    for (const name of withFlag(flag))
      for (const more of [[], ['--count'], ['--by', 'id']]) {
        const isWithoutId = /latency|refused|health|schedule|secrets/.test(name) && more.includes('id');
        if (isWithoutId) continue;
        const ended = await svcadmin.run([...name.split(' '), `--${flag}`, value, ...more]);
        expect(ended, `${name} ${more.join(' ')}: ${ended.stderr}`).toMatchObject({ code: 4, stdout: '' });
        expect(ended.stderr).toContain(message);
      }
  });

  it('is refused by the command that replays the events of an API key', async () => {
    const replay = ['webhooks', 'replay', `key_${id}`, '--since', '1h', '--dry-run'];
    expect(await svcadmin.run(replay)).toMatchObject({ code: 4 });
  });
});
