import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { adminToken, startTestServer, type TestServer } from '../../harness/server.ts';
import { commandLine } from '../svcadmin.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** A command line without address and token in its environment. */
async function withoutServer() {
  const svcadmin = await commandLine(server.adminUrl, undefined);
  const env = { SVCADMIN_URL: '', SVCADMIN_TOKEN: '' };
  return { ...svcadmin, run: (args: string[], input = '') => svcadmin.run(args, { input, env }) };
}

describe('svcadmin login', () => {
  it('stores a profile that only its owner can read, and logout deletes it', async () => {
    const svcadmin = await withoutServer();
    const login = await svcadmin.run(
      ['login', '--url', server.adminUrl, '--token-stdin', '--json'],
      `${adminToken}\n`,
    );
    expect(login).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(login.stdout)).toMatchObject({
      profile: 'default',
      role: 'owner',
      environment: 'development',
    });
    expect(login.stdout).not.toContain(adminToken);
    const file = join(svcadmin.cwd, 'config', 'svcadmin', 'profiles.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const whoami = await svcadmin.run(['whoami', '--json']);
    expect(JSON.parse(whoami.stdout)).toMatchObject({ url: server.adminUrl, tokenFrom: 'profile default' });
    const { stdout } = await svcadmin.run(['profiles', 'list', '--json']);
    expect(JSON.parse(stdout)).toEqual([
      { name: 'default', url: server.adminUrl, environment: 'development', current: true },
    ]);
    expect((await svcadmin.run(['logout'])).code).toBe(0);
    expect(await readFile(file, 'utf8')).not.toContain(adminToken);
    expect((await svcadmin.run(['whoami'])).code).toBe(3);
  });

  it('says which profile is the default from now on, and what it replaces', async () => {
    const svcadmin = await withoutServer();
    const login = (...flags: string[]) =>
      svcadmin.run(['login', '--url', server.adminUrl, '--token-stdin', ...flags], adminToken);
    expect((await login()).stderr).toBe('Commands use the profile default from now on.\n');
    expect((await login('--profile', 'second')).stderr).toBe(
      'Commands use the profile second from now on, and not the profile default.\n',
    );
    expect((await login('--profile', 'second')).stderr).toBe(
      'Commands use the profile second from now on.\n',
    );
  });

  it('stores no profile if the token is wrong (exit 3), or if no token is given without a terminal (exit 2)', async () => {
    const svcadmin = await withoutServer();
    const wrong = await svcadmin.run(['login', '--url', server.adminUrl, '--token-stdin'], 'wrong');
    expect(wrong.code).toBe(3);
    expect((await svcadmin.run(['login', '--url', server.adminUrl])).code).toBe(2);
    expect((await svcadmin.run(['profiles', 'list', '--json'])).stdout.trim()).toBe('[]');
  });
});

describe('address and token of the server', () => {
  it('are read from the .svc directory, whose token is sent to no other --url (exit 3)', async () => {
    const svcadmin = await withoutServer();
    await mkdir(join(svcadmin.cwd, '.svc'));
    await writeFile(join(svcadmin.cwd, '.svc', 'admin-token'), `${adminToken}\n`);
    await writeFile(join(svcadmin.cwd, '.svc', 'admin-url'), `${server.adminUrl}\n`);
    const { stdout } = await svcadmin.run(['whoami', '--json']);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'opr_first', url: server.adminUrl });
    // The token of this .svc directory is sent to no other server, even if --url names one.
    for (const elsewhere of [
      'http://192.0.2.1:8081',
      'http://127.0.0.1.example:8081',
      server.adminUrl.replace('//', '//localhost@192.0.2.1/'),
    ]) {
      const { code, stderr } = await svcadmin.run(['whoami', '--url', elsewhere]);
      expect([elsewhere, code]).toEqual([elsewhere, 3]);
      expect(stderr).toContain('No operator token for');
    }
  });

  it('are used only together: another --url than that of the profile exits with 3, an unknown profile with 2', async () => {
    const svcadmin = await withoutServer();
    await svcadmin.run(['login', '--url', server.adminUrl, '--token-stdin'], adminToken);
    const elsewhere = await svcadmin.run(['whoami', '--url', 'http://192.0.2.1:8081', '--json']);
    expect(elsewhere.code).toBe(3);
    expect(elsewhere.stderr).toContain('No operator token for http://192.0.2.1:8081');
    const unknown = await svcadmin.run(['whoami', '--profile', 'none']);
    expect(unknown.code).toBe(2);
  });
});

describe('a damaged file of profiles', () => {
  const withoutToken = '{"profiles":{"default":{"url":"https://admin.example"}}}';

  it.each(['', 'null', '[]', '{"profiles"', '{}', withoutToken])(
    '%j is named with its remedy (exit 1), and login does not replace it',
    async (content) => {
      const svcadmin = await withoutServer();
      const folder = join(svcadmin.cwd, 'config', 'svcadmin');
      const file = join(folder, 'profiles.json');
      await mkdir(folder, { recursive: true });
      await writeFile(file, content);
      const commands = ['status', 'profiles list', 'logout', `login --url ${server.adminUrl} --token-stdin`];
      for (const command of commands) {
        const { code, stderr } = await svcadmin.run([...command.split(' '), '--json'], adminToken);
        expect(code, command).toBe(1);
        expect(JSON.parse(stderr), command).toMatchObject({
          error: {
            message: `The file of your profiles is damaged: ${file}`,
            hint: expect.stringContaining('`svcadmin login`'),
          },
        });
      }
      expect(await readFile(file, 'utf8')).toBe(content);
    },
  );
});
