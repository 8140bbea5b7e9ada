import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { request as forward, type ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '../../../cli/connection/connection.ts';
import { readVariables, type Variables } from '../../../contracts/settings.ts';
import { createReceiver, listen } from '../../harness/receiver.ts';
import { adminToken, startTestServer } from '../../harness/server.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { certificate, certificateKey } from '../../webhooks/certificate.ts';
import { commandLine } from '../svcadmin.ts';

const address = 'http://127.0.0.1:9';
const uid = process.getuid?.() ?? 0;

/** Creates a `.svc` directory with the files of a running server. */
async function putLocalServer(parent: string, url = address): Promise<string> {
  const dataDir = join(parent, '.svc');
  await mkdir(dataDir, { mode: 0o700 });
  await writeFile(join(dataDir, 'admin-token'), 'own-token\n', { mode: 0o600 });
  await writeFile(join(dataDir, 'admin-url'), `${url}\n`, { mode: 0o600 });
  return dataDir;
}

/** Returns a function that finds server and token from a directory two levels below `root`, and its warnings. */
async function connectBelow(root: string, options: { env?: Variables; uid?: number } = {}) {
  const cwd = join(root, 'project', 'docs');
  await mkdir(cwd, { recursive: true });
  const warnings: string[] = [];
  const connection = () =>
    connect({
      flags: {},
      env: options.env ?? {},
      configDir: join(root, 'config'),
      cwd,
      uid: options.uid ?? uid,
      warn: (text) => warnings.push(text),
    });
  return { connection, warnings };
}

describe('variables of the environment', () => {
  it('are read without white space at their ends, and a blank one counts as unset', async () => {
    const { connection } = await connectBelow(temporaryFolder('cli'), {
      env: readVariables({
        SVCADMIN_URL: ` ${address}\r\n`,
        SVCADMIN_TOKEN: 'token\n',
        SVCADMIN_PROFILE: ' ',
      }),
    });
    expect(connection()).toMatchObject({ url: address, token: 'token' });
  });

  it.each(['to\tken', 'to ken', 'tökén'])(
    'are refused if the token is %j, without showing it',
    async (token) => {
      const env = { SVCADMIN_URL: address, SVCADMIN_TOKEN: token };
      const { connection } = await connectBelow(temporaryFolder('cli'), { env });
      expect(connection).toThrow('The token from SVCADMIN_TOKEN contains a space, a control character or');
      expect(connection).not.toThrow(token);
    },
  );

  it.each(['http://local\thost', 'http://a b', 'http://?', 'http://[::1'])(
    'are refused if the address is %j',
    async (url) => {
      const { connection } = await connectBelow(temporaryFolder('cli'), { env: { SVCADMIN_URL: url } });
      expect(connection).toThrow(
        `${JSON.stringify(url)} (from SVCADMIN_URL) is not an http or https address`,
      );
    },
  );
});

describe('the .svc directory of a local server', () => {
  it('is found in a parent directory, and its address and its token are used', async () => {
    const root = temporaryFolder('cli');
    const dataDir = await putLocalServer(root);
    const { connection, warnings } = await connectBelow(root);
    expect(connection()).toMatchObject({
      url: address,
      token: 'own-token',
      tokenFrom: join(dataDir, 'admin-token'),
    });
    expect(warnings).toEqual([]);
  });

  it('is used with its own token if SVCADMIN_TOKEN is set, and a warning says that SVCADMIN_TOKEN is not sent', async () => {
    const root = temporaryFolder('cli');
    await putLocalServer(root, 'http://198.51.100.7:8081');
    const { connection, warnings } = await connectBelow(root, { env: { SVCADMIN_TOKEN: 'production' } });
    expect(connection()).toMatchObject({ url: 'http://198.51.100.7:8081', token: 'own-token' });
    expect(warnings).toEqual([expect.stringMatching(/^SVCADMIN_TOKEN is not sent to .*198\.51\.100\.7/)]);
  });

  it('has a token that is not used if SVCADMIN_URL names another server', async () => {
    const root = temporaryFolder('cli');
    const dataDir = await putLocalServer(root);
    const env = { SVC_DATA_DIR: dataDir, SVCADMIN_URL: 'https://198.51.100.7' };
    const { connection } = await connectBelow(root, { env });
    expect(connection).toThrow('No operator token for https://198.51.100.7');
  });

  it('has a token that is not used if SVCADMIN_TOKEN is set and SVC_DATA_DIR or SVCADMIN_URL names the server', async () => {
    const root = temporaryFolder('cli');
    const dataDir = await putLocalServer(root);
    for (const named of [{ SVC_DATA_DIR: dataDir }, { SVCADMIN_URL: address }]) {
      const { connection, warnings } = await connectBelow(root, {
        env: { SVCADMIN_TOKEN: 'mine', ...named },
      });
      expect(connection()).toMatchObject({ url: address, token: 'mine', tokenFrom: 'SVCADMIN_TOKEN' });
      expect(warnings).toEqual([]);
    }
  });

  it('is ignored with a warning if another user owns it', async () => {
    const root = temporaryFolder('cli');
    const dataDir = await putLocalServer(root);
    const { connection, warnings } = await connectBelow(root, {
      uid: uid + 1,
      env: { SVCADMIN_TOKEN: 'mine' },
    });
    expect(connection()).toMatchObject({ urlFrom: 'the default', token: 'mine' });
    expect(warnings).toEqual([expect.stringContaining(`${dataDir} is ignored: it belongs to another user`)]);
  });

  it.each([
    ['its group can write the directory', '', 0o770],
    ['all users can write the directory', '', 0o707],
    ['its group can write the file of the token', 'admin-token', 0o620],
    ['all users can write the file of the address', 'admin-url', 0o602],
  ])('is ignored with a warning if %s', async (_condition, name, mode) => {
    const root = temporaryFolder('cli');
    const dataDir = await putLocalServer(root);
    await chmod(join(dataDir, name), mode);
    const { connection, warnings } = await connectBelow(root);
    expect(connection).toThrow('No operator token for http://127.0.0.1:8081');
    expect(warnings).toEqual([expect.stringMatching(/is ignored: others can write/)]);
  });

  it('is ignored if others can write it, and then the .svc directory of a parent directory is used', async () => {
    const root = temporaryFolder('cli');
    await putLocalServer(root);
    await mkdir(join(root, 'project'));
    await chmod(await putLocalServer(join(root, 'project'), 'http://198.51.100.7:8081'), 0o777);
    const { connection, warnings } = await connectBelow(root);
    expect(connection()).toMatchObject({ url: address, token: 'own-token' });
    expect(warnings).toHaveLength(1);
  });

  it('is ignored if it is a symbolic link to a directory that others can write', async () => {
    const root = temporaryFolder('cli');
    const elsewhere = temporaryFolder('cli');
    await chmod(await putLocalServer(elsewhere), 0o777);
    await symlink(join(elsewhere, '.svc'), join(root, '.svc'));
    const { connection } = await connectBelow(root);
    expect(connection).toThrow('No operator token');
  });

  it('causes no warning if SVCADMIN_URL and SVCADMIN_TOKEN name another server', async () => {
    const root = temporaryFolder('cli');
    await chmod(await putLocalServer(root), 0o777);
    const env = { SVCADMIN_URL: 'https://admin.example', SVCADMIN_TOKEN: 'mine' };
    const { connection, warnings } = await connectBelow(root, { env });
    expect(connection()).toMatchObject({ url: 'https://admin.example', token: 'mine' });
    expect(warnings).toEqual([]);
  });
});

/** Starts a server that records the tokens that it receives. */
async function callRecorder() {
  const tokens: (string | undefined)[] = [];
  const { port } = await createReceiver((_count, request, response) => {
    tokens.push(request.headers.authorization);
    response.writeHead(500).end();
  });
  return { url: `http://127.0.0.1:${port}`, tokens };
}

describe("svcadmin in a directory with an attacker's .svc directory", () => {
  it('sends no SVCADMIN_TOKEN to the address in .svc, and login refuses that address (exit 2)', async () => {
    const { url, tokens } = await callRecorder();
    const svcadmin = await commandLine(url, 'production-token');
    await putLocalServer(svcadmin.cwd, url);
    const env = { SVCADMIN_URL: '' };
    const { stderr } = await svcadmin.run(['whoami'], { env });
    expect(stderr).toContain('SVCADMIN_TOKEN is not sent');
    expect(tokens).toEqual(['Bearer own-token']);
    const login = await svcadmin.run(['login', '--token-stdin'], { env, input: 'production-token\n' });
    expect(login).toMatchObject({ code: 2, stderr: expect.stringContaining('--url') });
    expect(tokens).toHaveLength(1);
  });
});

it('svcadmin exits with 1 and says when to try again, while the server still starts', async () => {
  const { port } = await createReceiver((_count, _request, response) => {
    response.writeHead(503, { 'content-type': 'application/json', 'retry-after': '5' });
    response.end(JSON.stringify({ success: false, error: 'This process is starting' }));
  });
  const { run } = await commandLine(`http://127.0.0.1:${port}`, 'svc_op_none');
  expect(await run(['whoami'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is not ready: This process is starting.*\nTry again in 5 s\./),
  });
});

it('svcadmin exits with 1 and says when to try again, if a proxy answers 503 with a page', async () => {
  const { port } = await createReceiver((_count, _request, response) => {
    response.writeHead(503, { 'content-type': 'text/html', 'retry-after': '5' }).end('<h1>Unavailable</h1>');
  });
  const { run } = await commandLine(`http://127.0.0.1:${port}`, 'svc_op_none');
  expect(await run(['whoami'])).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is not ready.*\nTry again in 5 s\./),
  });
});

describe('svcadmin', () => {
  async function callsOf(answer: (response: ServerResponse) => void) {
    let calls = 0;
    const { port } = await createReceiver((_count, _request, response) => {
      calls += 1;
      answer(response);
    });
    const { run } = await commandLine(`http://127.0.0.1:${port}`, 'svc_op_none');
    return { ...(await run(['whoami'])), calls };
  }

  it('exits with 7 after one call if the server answers with a redirect, because the token must not go to another server', async () => {
    const elsewhere = await callRecorder();
    const result = await callsOf((response) => response.writeHead(307, { location: elsewhere.url }).end());
    expect(result).toMatchObject({ code: 7, calls: 1 });
    expect(result.stderr).toContain('unexpected redirect');
    expect(elsewhere.tokens).toEqual([]);
  });

  it('exits with 7 after one call if the connection is reset before the answer', async () => {
    const result = await callsOf((response) => response.socket?.resetAndDestroy());
    expect(result).toMatchObject({ code: 7, calls: 1 });
    expect(result.stderr).toContain('Cannot reach the server');
  });

  it('exits with 7 after one call if the connection ends in the middle of the answer', async () => {
    const result = await callsOf((response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' });
      response.write('{"result"', () => response.destroy());
    });
    expect(result).toMatchObject({ code: 7, calls: 1 });
    expect(result.stderr).toContain('the connection ended before the end of the response');
  });
});

it('svcadmin exits with 7 if the certificate authority is unknown, and names --ca and NODE_EXTRA_CA_CERTS', async () => {
  const port = await listen(createServer({ cert: certificate, key: certificateKey }));
  const { run } = await commandLine(`https://localhost:${port}`, 'svc_op_none');
  const { code, stderr } = await run(['whoami']);
  expect(code).toBe(7);
  expect(stderr).toContain('by --ca, or set NODE_EXTRA_CA_CERTS to the file');
});

describe('svcadmin --ca', () => {
  it('trusts a private certificate authority, and login stores that authority in the profile', async () => {
    const server = await startTestServer();
    onTestFinished(server.stop);
    const proxy = createServer({ cert: certificate, key: certificateKey }, (request, response) => {
      const { method = 'GET', url = '', headers } = request;
      const onward = forward(`${server.adminUrl}${url}`, { method, headers }, (answer) => {
        response.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(response);
      });
      request.pipe(onward);
    });
    const url = `https://127.0.0.1:${await listen(proxy)}`;
    const ca = join(temporaryFolder('ca'), 'ca.pem');
    await writeFile(ca, certificate);
    const { run } = await commandLine(url, adminToken);
    expect((await run(['whoami'])).code).toBe(7);
    expect(await run(['whoami', '--ca', ca])).toMatchObject({ code: 0 });
    const login = ['login', '--url', url, '--profile', 'own', '--token-stdin', '--ca', ca];
    expect((await run(login, { input: adminToken })).code).toBe(0);
    expect(await run(['whoami', '--profile', 'own'])).toMatchObject({ code: 0 });
  });

  it('exits with 2 if the named file does not exist, and names the fault if the file has no certificate', async () => {
    const { run } = await commandLine('https://localhost:9', 'svc_op_none');
    const empty = join(temporaryFolder('ca'), 'empty.pem');
    await writeFile(empty, 'nothing');
    expect((await run(['whoami', '--ca', empty])).stderr).toContain('holds no certificate');
    expect((await run(['whoami', '--ca', `${empty}.none`])).code).toBe(2);
  });
});
