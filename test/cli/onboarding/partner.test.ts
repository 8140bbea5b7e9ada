import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

const onboard = [
  ...['partners', 'onboard', 'Acme Ltd', '--redirect-uri', 'http://localhost:3000/callback'],
  ...['--claims', 'age_18_plus country'],
];

describe('svcadmin partners onboard', () => {
  it('creates an active partner with funds, and prints a .env file with working credentials', async () => {
    const { code, stdout, stderr } = await svcadmin.run([
      ...onboard,
      '--webhook-url',
      'https://acme.example/hooks',
    ]);
    expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringContaining('✓ partner ptr_') });
    const variables = new Map(
      stdout
        .split('\n')
        .flatMap((line) => (/^#|^$/.test(line) ? [] : [line.split('=', 2) as [string, string]])),
    );
    expect([...variables.keys()]).toEqual([
      ...[
        ...['SVC_BASE_URL', 'SVC_CLIENT_ID', 'SVC_CLIENT_SECRET', 'SVC_API_KEY', 'SVC_REDIRECT_URI'],
        'SVC_WEBHOOK_SECRET',
      ],
    ]);
    const { directory, clientSecrets } = server.services.partners;
    const found = await directory.client(variables.get('SVC_CLIENT_ID') ?? '');
    expect(found).toMatchObject({
      partner: { name: 'Acme Ltd', status: 'active' },
      client: { mode: 'test' },
    });
    expect(found && clientSecrets.matches(found.client, variables.get('SVC_CLIENT_SECRET') ?? '')).toBe(true);
    expect(await directory.apiKeyBySecret(variables.get('SVC_API_KEY') ?? '')).toMatchObject({
      _id: found?.client.keyId,
    });
    const wallet = await server.admin.wallets.show.query({ partnerId: found?.partner._id ?? '' });
    expect(wallet.balance).toBe(5000);
    const calls = stdout.split('\n').filter((line) => line.startsWith('#'));
    for (const path of [
      ...['/verify/start?', '/api/oauth/token', '/api/oauth/userinfo', '/api/oauth/revoke'],
      '/hvf-session/',
    ]) {
      expect(calls.some((call) => call.includes(path))).toBe(true);
    }
  });

  it.each([
    ['--claims', 'age18', 'unknown claim age18'],
    ['--redirect-uri', 'shop.example', 'must be an absolute URI'],
    ['--webhook-url', 'http://foo.example', 'https'],
    ['--amount', '20', 'the least funding is 50.00 USD'],
  ])('creates no partner, and names the fault on stderr, if %s is %s', async (option, value, said) => {
    const before = await server.admin.partners.list.query({ limit: 500 });
    const { code, stderr } = await svcadmin.run([...onboard, option, value]);
    expect(code).not.toBe(0);
    expect(stderr).toContain(said);
    expect(await server.admin.partners.list.query({ limit: 500 })).toEqual(before);
  });

  it('writes secrets with --out-file to a file that only its owner can read, and not to stdout', async () => {
    const shown = await svcadmin.run([...onboard, '--out-file', '.env', '--json']);
    const env = await readFile(join(svcadmin.cwd, '.env'), 'utf8');
    expect((await stat(join(svcadmin.cwd, '.env'))).mode & 0o777).toBe(0o600);
    expect(env).toContain('SVC_API_KEY=svc_test_');
    expect(shown.stdout).not.toMatch(/svc_test_|svc_secret_/);
    expect(JSON.parse(shown.stdout)).toMatchObject({ status: 'active', balance: 5000, outFile: '.env' });
  });
});

describe('svcadmin doctor', () => {
  it('reports every check as passed if the server runs and the token is right', async () => {
    const findings = await svcadmin.json<{ check: string; ok: boolean }[]>('doctor');
    expect(findings.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual([]);
  });

  it('reports the check `server` as failed for a wrong token, names SVCADMIN_TOKEN, and exits with 1', async () => {
    const { code, stdout } = await svcadmin.run(['doctor', '--json'], { env: { SVCADMIN_TOKEN: 'wrong' } });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toContainEqual(
      expect.objectContaining({ check: 'server', ok: false, fix: expect.stringContaining('SVCADMIN_TOKEN') }),
    );
  });

  it('prints, like other commands, the address that does not answer and that it is from SVCADMIN_URL', async () => {
    const env = { SVCADMIN_URL: 'http://localhost:1' };
    for (const args of [['doctor'], ['partners', 'list']]) {
      const { stdout, stderr } = await svcadmin.run(args, { env });
      expect(stdout + stderr).toContain(
        'Cannot reach the server at http://localhost:1 (from SVCADMIN_URL): ',
      );
    }
    const login = await svcadmin.run(['login', '--url', 'http://localhost:1', '--token-stdin'], {
      input: 'x',
    });
    expect([login.code, login.stderr]).toEqual([7, expect.stringContaining('at http://localhost:1')]);
  });
});

describe('svcadmin status, whoami and error', () => {
  it('print the state of the server, the signed-in operator and the meaning of an error code', async () => {
    expect(await svcadmin.json('status')).toMatchObject({
      database: 'up',
      contract: '0.8.0',
      queue: { pending: 0 },
    });
    expect(await svcadmin.json('whoami')).toMatchObject({ role: 'owner', urlFrom: 'SVCADMIN_URL' });
    expect(await svcadmin.json('error', 'payment_required')).toMatchObject({ httpStatus: 402, exit: 5 });
  });
});

describe('svcadmin request ID', () => {
  it('shows the changes that an operator made in the request; an unknown request exits with 4', async () => {
    const { id } = await server.admin.partners.create.mutate({ name: 'Acme' });
    const [entry] = await svcadmin.json<{ requestId: string }[]>('audit-log', 'list', '--target', id);
    const shown = await svcadmin.json('request', entry?.requestId ?? '');
    expect(shown).toMatchObject({ request: null, changes: [{ action: 'partners.create', target: id }] });
    expect((await svcadmin.run(['request', 'req_0000000000000000000000'])).code).toBe(4);
  });
});

describe('svcadmin without a right command or argument', () => {
  it('prints the usage, the list of commands or the most similar command', async () => {
    const stderrOf = async (...args: string[]) => (await svcadmin.run(args)).stderr;
    const [trigger, verb, topic] = await Promise.all([
      stderrOf('webhooks', 'trigger', 'key_1'),
      stderrOf('partners', 'foo'),
      stderrOf('partner'),
    ]);
    expect(trigger).toContain('Usage: svcadmin webhooks trigger EVENT --key VALUE\n');
    expect(verb).toBe(
      'Error: partners foo is not a svcadmin command\n`svcadmin partners --help` lists what there is.\n',
    );
    expect(topic).toContain('did you mean partners?');
    expect(await stderrOf('parners', 'list')).toContain('did you mean partners list?');
  });
});

describe('svcadmin --help', () => {
  it('begins with the first command to run', async () => {
    const { stdout } = await svcadmin.run(['--help']);
    expect(stdout).toMatch(/^START HERE\n {2}\$ svcadmin login --url URL +sign in to a server$/m);
  });

  it('shows the examples of a command first', async () => {
    const { stdout } = await svcadmin.run(['partners', 'create', '--help']);
    const sections = stdout.match(/^[A-Z ]+$/gm);
    expect(sections?.filter((line) => line.trim())[0]).toBe('EXAMPLES');
  });
});
