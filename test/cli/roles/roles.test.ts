import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CommandRoles, rolesOfCommands } from '../../../cli/roles/table.ts';
import type { Permission } from '../../../contracts/admin/operators.ts';
import { permissions, type Role, scopeOf } from '../../../server/platform/admin-api/roles.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';
import { readCommandProcedures, renderCommandProcedures } from './procedures.ts';

const page = new URL('../../../docs/roles.md', import.meta.url);
const generated = new URL('../../../cli/roles/procedures.ts', import.meta.url);

const permissionOf = (role: Role, path: string): Permission => {
  const extent = scopeOf(role, path);
  return extent === 'any' ? 'yes' : (extent ?? 'no');
};
const procedures = Object.keys(permissions).map((procedure) => ({
  procedure,
  support: permissionOf('support', procedure),
  ops: permissionOf('ops', procedure),
  owner: permissionOf('owner', procedure),
}));

function renderPage(rows: readonly CommandRoles[]): string {
  const shown = (row: CommandRoles) => `| \`${row.command}\` | ${row.support} | ${row.ops} | ${row.owner} |`;
  return `# Roles

Which operator may run which command.
\`svcadmin roles\` prints the table of your server.

- **support** sets partners up and answers their questions: keys, clients, webhooks, enrollments, sessions, deliveries.
- **ops** keeps the service running: deliveries, jobs, audits, limits, \`/ops\` and \`/metrics\`.
  It sees neither claims nor subjects: they are \`(masked)\`.
  It may not use \`audit-log list --user\`.
- **owner** may do everything, also live money, prices, erasures and operators.

\`test\`: in test mode only.
\`own\`: what the operator did, and changes of partners by all.
\`part\`: \`show\` reads what the commands of each kind may read.

The table omits commands that need no operator, such as \`error\` and \`wallets verify\`.

| command | support | ops | owner |
|---|---|---|---|
${rows.map(shown).join('\n')}
`;
}

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  const { token } = await server.admin.operators.create.mutate({ name: 'Kim', role: 'support' });
  svcadmin = await commandLine(server.adminUrl, token);
});
afterAll(() => server.stop());

describe('the table of roles', () => {
  it('is built from the procedures in the source of each command, and the server has all of these procedures', async () => {
    const source = renderCommandProcedures(await readCommandProcedures());
    if (process.env['UPDATE_DOCS']) await writeFile(generated, source);
    expect(await readFile(generated, 'utf8')).toBe(source);
    for (const path of Object.values(await readCommandProcedures()).flat())
      expect(Object.keys(server.services.admin.router._def.procedures)).toContain(path);
  });

  it('equals the table in docs/roles.md', async () => {
    const text = renderPage(rolesOfCommands(procedures, await readCommandProcedures()));
    if (process.env['UPDATE_DOCS']) await writeFile(page, text);
    expect(await readFile(page, 'utf8')).toBe(text);
  });

  it('is printed by `svcadmin roles`; --role shows only the commands of that role', async () => {
    const all = await svcadmin.json<CommandRoles[]>('roles');
    expect(all).toEqual(rolesOfCommands(procedures));
    const row = (command: string) => all.find((one) => one.command === command);
    expect(row('deliveries resend')).toMatchObject({ support: 'yes', ops: 'yes', owner: 'yes' });
    expect(row('wallets fund')).toMatchObject({ support: 'test', ops: 'no', owner: 'yes' });
    expect(row('audit-log list')).toMatchObject({ support: 'own', ops: 'yes' });
    expect(row('show')).toMatchObject({ support: 'part', ops: 'part', owner: 'yes' });
    const mine = await svcadmin.json<CommandRoles[]>('roles', '--role', 'support');
    expect(mine).toEqual(all.filter(({ support }) => support !== 'no'));
    expect(await svcadmin.run(['roles', '--role', 'guest'])).toMatchObject({ code: 2, stdout: '' });
    expect((await svcadmin.run(['roles'])).stderr).toContain('You are Kim: support.');
  });
});
