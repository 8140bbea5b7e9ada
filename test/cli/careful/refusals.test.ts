import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withProfile, writeProfiles } from '../../../cli/connection/profiles.ts';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

/** Texts have local times, and JSON has UTC. */
const withoutTimes = (text: string) => text.replace(/\d{4}-\d\d-\d\d[ T][\d:.]+(Z|[+-]\d\d:\d\d)/g, 'TIME');

/** Runs a command that must be refused. Exit code, stdout and message must be the same with `--json`. */
async function refused(args: string[], env: Record<string, string> = {}) {
  const [plain, json] = await Promise.all([
    svcadmin.run(args, { env }),
    svcadmin.run([...args, '--json'], { env }),
  ]);
  expect({ code: json.code, stdout: json.stdout }).toEqual({ code: plain.code, stdout: '' });
  expect(plain.stdout).toBe('');
  const { error } = JSON.parse(json.stderr.slice(json.stderr.lastIndexOf('{"error"'))) as {
    error: { code: string; message: string };
  };
  expect(withoutTimes(plain.stderr)).toContain(withoutTimes(error.message));
  return { exit: plain.code, code: error.code, message: error.message };
}

describe('the exit code of svcadmin', () => {
  it('is 2 for wrong usage', async () => {
    expect(await refused(['partners', 'create'])).toMatchObject({ exit: 2, code: 'usage' });
    expect(await refused(['partners', 'list', '--limt', '3'])).toMatchObject({ exit: 2, code: 'usage' });
    expect(await refused(['partners', 'list', '--limit', '0'])).toMatchObject({ exit: 2, code: 'usage' });
    expect(await refused(['partners', 'conjure'])).toMatchObject({ exit: 2, code: 'unknown_command' });
    expect(await refused(['partners:list'])).toMatchObject({ exit: 2, code: 'unknown_command' });
    expect(await refused(['partners', 'show', 'cli_1'])).toMatchObject({
      exit: 2,
      code: 'bad_input',
      message: 'partnerId: cli_1 is a client; this needs ptr_…',
    });
    expect(await refused(['keys', 'list', 'ptr_1'])).toMatchObject({
      exit: 2,
      code: 'usage',
      message: 'keys list takes no argument ptr_1; did you mean --partner ptr_1?',
    });
    expect(await refused(['status', 'now'])).toMatchObject({
      exit: 2,
      message: 'status takes no argument now',
    });
    const backwards = ['wallets', 'statement', 'ptr_1', '--from', '2026-07-01', '--to', '2026-06-01'];
    expect(await refused(backwards)).toMatchObject({ exit: 2, code: 'usage' });
    const listen = ['webhooks', 'listen', 'key_1', '--forward-to', 'localhost:3000/hooks'];
    expect(await refused(listen)).toMatchObject({ exit: 2, code: 'usage' });
    const fund = ['wallets', 'fund', 'ptr_1', '--mode', 'test', '--amount', '50.001', '--reference', 'r'];
    expect(await refused(fund)).toMatchObject({
      exit: 2,
      message: '50.001 is not an amount in dollars such as 50.00',
    });
  });

  it('is 3 without a token, with an unknown token, and if the role of the operator does not permit the call', async () => {
    const env = { SVCADMIN_TOKEN: 'wrong' };
    expect(await refused(['partners', 'list'], env)).toMatchObject({ exit: 3, code: 'operator_unknown' });
    expect(await refused(['partners', 'list'], { SVCADMIN_TOKEN: '' })).toMatchObject({
      exit: 3,
      code: 'no_token',
    });
    const { token } = await svcadmin.json<{ token: string }>('operators', 'create', 'Kim', '--role', 'ops');
    const create = await refused(['partners', 'create', 'Acme'], { SVCADMIN_TOKEN: token });
    expect(create).toMatchObject({ exit: 3, code: 'not_permitted' });
  });

  it.each([
    ['operators revoke opr_1 --dry-run'],
    ['keyring rotate signing --dry-run'],
    ['wallets repair --dry-run'],
    ['wallets adjust ptr_1 --mode test --amount 5 --reason r'],
    ['keys create --partner ptr_1 --mode test --out-file taken'],
    ['partners onboard Acme --redirect-uri http://localhost:3000/ --claims country --out-file taken'],
  ])('is 3 without a token, and nothing else is said or checked before, for %s', async (command) => {
    await writeFile(join(svcadmin.cwd, 'taken'), '');
    const { code, stdout, stderr } = await svcadmin.run(command.split(' '), { env: { SVCADMIN_TOKEN: '' } });
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
    expect(stderr).toMatch(/^Error: No operator token/);
  });

  it('is 4 for an unknown record or error code', async () => {
    expect(await refused(['partners', 'show', 'ptr_none'])).toMatchObject({ exit: 4, code: 'not_found' });
    const userId = `usr_${'0'.repeat(22)}`;
    expect(await refused(['users', 'show', userId])).toMatchObject({ exit: 4, code: 'not_found' });
    expect((await svcadmin.run(['users', 'show', userId])).stderr).toContain(
      `\`svcadmin audit-log list --user ${userId}\` shows whether the user was erased.`,
    );
    expect(await refused(['error', 'invalid_grand'])).toMatchObject({
      exit: 4,
      message: 'No error invalid_grand; did you mean invalid_grant?',
    });
  });

  it('is 5 if the state of the record or a rule forbids the change', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    expect(await refused(['partners', 'suspend', id])).toMatchObject({ exit: 5, code: 'conflict' });
    const key = await server.admin.keys.create.mutate({ partnerId: id, mode: 'live' });
    const set = await refused(['webhooks', 'set', key.id, '--url', 'http://partner.example/']);
    expect(set).toMatchObject({ exit: 5, code: 'refused' });
  });

  it('is 7 if no server answers, or if another program answers', async () => {
    const env = { SVCADMIN_URL: 'http://127.0.0.1:1' };
    expect(await refused(['partners', 'list'], env)).toMatchObject({ exit: 7, code: 'unreachable' });
    const elsewhere = await refused(['partners', 'list', '--url', `${server.adminUrl}/elsewhere`]);
    expect(elsewhere).toMatchObject({ exit: 7, code: 'not_the_admin_api' });
  });
});

describe('svcadmin', () => {
  it('begins stderr of a dry run with "LIVE: …" if the profile is of a production server', async () => {
    const onProduction = await commandLine('', '');
    const profile = { url: server.adminUrl, token: adminToken, environment: 'production' };
    const configDir = join(onProduction.cwd, 'config', 'svcadmin');
    writeProfiles(configDir, withProfile({ profiles: {} }, 'main', profile));
    const { stderr } = await onProduction.run(['keyring', 'reseal', '--dry-run']);
    expect(stderr).toBe('LIVE: profile main\n');
  });

  it('begins stderr with "LIVE: …" if a command affects live mode or the whole service', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const { stdout, stderr } = await svcadmin.run(['wallets', 'show', id, '--mode', 'live']);
    expect(stderr).toBe('LIVE: live mode\n');
    const rotated = await svcadmin.run(['keyring', 'rotate', 'code', '--yes']);
    expect(rotated.stderr).toMatch(/^LIVE: the whole service\n/);
    expect(stdout).toContain('live');
  });
});

describe('a change that the server refuses', () => {
  it('is not announced before: stderr has the refusal alone', async () => {
    const { admin } = server;
    const { id: partnerId } = await admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await admin.keys.create.mutate({ partnerId, mode: 'test' });
    await admin.webhooks.set.mutate({ keyId, url: 'https://shop.example/hooks' });
    const { id: clientId } = await admin.clients.create.mutate({
      ...{ partnerId, keyId, name: 'Shop' },
      ...{ redirectUris: ['https://shop.example/'], claims: ['country'] },
    });
    const cases: [command: string[], exit: number][] = [
      [['clients', 'update', clientId, '--brand-color', 'red'], 2],
      [['clients', 'rotate-secret', clientId, '--keep-old', '99999d'], 2],
      [['keyring', 'rotate', 'signing-rsa', '--lead', '1s'], 2],
      [['webhooks', 'set', keyId, '--url', 'http://127.0.0.1:9/'], 5],
    ];
    for (const [command, exit] of cases)
      for (const yes of [['--yes'], []]) {
        const { code, stdout, stderr } = await svcadmin.run([...command, ...yes]);
        expect([command, code, stdout]).toEqual([command, exit, '']);
        expect(stderr).toMatch(/^Error: /);
      }
  });

  it('is in the audit log once, although it was refused before it was announced', async () => {
    const { id: partnerId } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const { id: keyId } = await server.admin.keys.create.mutate({ partnerId, mode: 'live' });
    const set = ['webhooks', 'set', keyId, '--url', 'https://shop.example/hooks'];
    expect(await svcadmin.run(set)).toMatchObject({ code: 0 });
    expect(await svcadmin.run([...set.slice(0, -1), 'http://127.0.0.1:9/', '--yes'])).toMatchObject({
      code: 5,
    });
    const entries = await server.admin.auditLog.list.query({ target: keyId });
    expect(entries.map(({ action, outcome }) => [action, outcome])).toEqual([
      ['webhooks.set', 'refused'],
      ['webhooks.set', 'changed'],
      ['keys.create', 'changed'],
    ]);
  });
});
