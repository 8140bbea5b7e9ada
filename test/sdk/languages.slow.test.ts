import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shopDomain } from '../api/storefront/shop.ts';
import { cacheOf, hasProgram } from '../contract/programs.ts';
import { verifyUser } from '../harness/partner.ts';
import { listen, startReceiver } from '../harness/receiver.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { createBrowser, passFlow } from '../journey/browser.ts';
import { newStart, startUrl } from '../journey/pkce.ts';
import { createAccount, createShopAccount } from './accounts.ts';
import { allCases } from './cases.ts';
import { inputs, wholeBody } from './inputs.ts';

const sdk = fileURLToPath(new URL('../../sdk', import.meta.url));
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Creates a server that completes the flow for programs without a browser: `?url=…&person=…` returns the redirect. */
const walker = () =>
  createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://walker').searchParams;
    passFlow(createBrowser(server.baseUrl), query.get('url') ?? '', query.get('person') ?? '').then(
      (end) => response.end(end.href),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  });

const answerOf = (headers: string, body: string) => `HTTP/1.1 200 OK\r\n${headers}\r\n\r\n${body}`;
const whole = answerOf(`Content-Length: ${wholeBody.length}`, wholeBody);
const inChunks = (announced: number) =>
  answerOf('Transfer-Encoding: chunked', `${announced.toString(16)}\r\n${wholeBody}`);

/** Sends bytes for as long as the client reads them. */
function repeat(socket: Socket, begin: string, bytes: string, everyMs: number): void {
  socket.write(begin);
  const timer = setInterval(() => socket.write(bytes), everyMs);
  socket.on('close', () => clearInterval(timer));
}

/** By the first part of the path: answers as proxies and broken servers send them. */
const rawAnswers: Readonly<Record<string, (socket: Socket) => void>> = {
  '/hints/': (socket) => socket.end(`HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${whole}`),
  '/chunks/': (socket) => socket.end(`${inChunks(wholeBody.length)}\r\n0\r\n\r\n`),
  '/cut/': (socket) => socket.end(inChunks(wholeBody.length + 9)),
  '/last-chunk-missing/': (socket) => socket.end(`${inChunks(wholeBody.length)}\r\n`),
  '/slow/': (socket) => repeat(socket, answerOf('Content-Length: 1000', ''), ' ', 50),
  '/endless/': (socket) => repeat(socket, answerOf('Connection: close', ''), ' '.repeat(300_000), 1),
};

/** A server whose answers no HTTP library would send. */
const rawServer = () =>
  createTcpServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (request) => {
      const [path] = /\/[\w-]+\//.exec(String(request)) ?? [''];
      rawAnswers[path]?.(socket);
    });
  });

type Names = (settings: Record<string, string>) => Record<string, string>;

/**
 * Writes accounts, a session and two deliveries to a file, and returns its path. `names` renames the settings for a
 * language.
 */
async function prepare(names: Names): Promise<string> {
  const { partner, settings } = await createAccount(server);
  const receiver = await startReceiver();
  const { signingSecret } = await server.admin.webhooks.set.mutate({
    keyId: partner.keyId,
    url: receiver.url,
  });
  await verifyUser(server, partner);
  await expect.poll(() => receiver.received.length).toBe(2);
  receiver.close();
  const { clientId, redirectUri } = settings;
  const { state, codeChallenge } = newStart();
  const { baseUrl } = server;
  const start = startUrl({ baseUrl, clientId, redirectUri, scope: 'country', state, codeChallenge });
  const begun = await fetch(start, { redirect: 'manual' });
  const harness = {
    account: names(settings),
    shop: names(await createShopAccount(server)),
    domain: shopDomain,
    walker: `http://127.0.0.1:${await listen(walker())}/`,
    raw: `http://127.0.0.1:${await listen(rawServer())}/`,
    cases: await allCases(),
    inputs: { ...inputs, settings: names(inputs.settings) },
    session: begun.headers.get('location')?.split('/').at(-1),
    deliveries: {
      secret: signingSecret,
      received: receiver.received.map(({ raw, headers }) => ({ body: raw.toString('base64'), headers })),
    },
  };
  const file = join(temporaryFolder('sdk'), 'harness.json');
  writeFileSync(file, JSON.stringify(harness));
  return file;
}

/** Runs a program to its end. @throws Error with all its output */
async function run(program: string, parameters: string[], env: Record<string, string> = {}): Promise<string> {
  const ended = promisify(execFile)(program, parameters, { env: { ...process.env, ...env } });
  const { stdout, stderr } = await ended.catch((failed: { stdout: string; stderr: string }) => {
    throw new Error(`${failed.stdout}\n${failed.stderr}`);
  });
  return stdout + stderr;
}

const camel: Names = (settings) => settings;
const snake: Names = (settings) =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name.replaceAll(/[A-Z]/g, (one) => `_${one.toLowerCase()}`),
      value,
    ]),
  );

describe('the client library for Python', () => {
  it('passes its own tests against a running server', async ({ skip }) => {
    if (!hasProgram('python3')) skip('this machine has no python3');
    const env = {
      SVC_TEST: await prepare(snake),
      PYTHONPATH: join(sdk, 'python'),
      PYTHONDONTWRITEBYTECODE: '1',
    };
    const printed = await run('python3', ['-W', 'error', join(sdk, 'python/tests/test_client.py')], env);
    expect(printed).toMatch(/\nRan 21 tests in .*\n\nOK\n$/);
  });

  it('passes the type check of mypy', async ({ skip }) => {
    if (!hasProgram('mypy')) skip('this machine has no mypy');
    expect(
      await run('mypy', ['--strict', `--cache-dir=${cacheOf('mypy')}`, join(sdk, 'python/svc_gateway')]),
    ).toContain('Success: no issues');
  });
});

describe('the client library for PHP', () => {
  it('passes its own tests against a running server', async ({ skip }) => {
    if (!hasProgram('php')) skip('this machine has no php');
    const env = { SVC_TEST: await prepare(camel) };
    const strict = ['-d', 'error_reporting=-1', '-d', 'display_errors=stderr', '-d', 'zend.assertions=1'];
    const printed = await run('php', [...strict, join(sdk, 'php/tests/client.php')], env);
    expect(printed.match(/^ok /gm)).toHaveLength(13);
    expect(printed).toMatch(/\n[23]\d\d\d checks\n$/);
  });
});
