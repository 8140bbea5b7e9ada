import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { commandLine, executable } from '../svcadmin.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

/** Starts a proxy of the admin API, which answers 503 instead of the first list of requests. */
async function startProxy(): Promise<string> {
  let hasFailed = false;
  const proxy = createServer((request, response) => {
    const isFirstList = !hasFailed && (request.url ?? '').includes('requests.list');
    if (isFirstList) {
      hasFailed = true;
      response.writeHead(503).end();
      return;
    }
    const { authorization = '' } = request.headers;
    void fetch(`${server.adminUrl}${request.url}`, { headers: { authorization } }).then(async (answer) =>
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text()),
    );
  });
  await new Promise<void>((resolve) => void proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void proxy.close());
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

it('svcadmin tail reads the same period again after a poll that failed', async () => {
  const id = 'req_0000000000000000000001';
  const row = {
    _id: id,
    // Older than the period that each poll reads again.
    at: new Date(Date.now() - 45_000),
    ...{ method: 'POST', route: '/api/oauth/token', durationMs: 3, status: 200 },
    purgeAt: new Date(Date.now() + 3_600_000),
  };
  await server.db.collection<{ _id: string }>('requestLog').insertOne(row);
  const { cwd, env } = await commandLine(await startProxy());
  const child = spawn(process.execPath, [executable, 'tail', '--since', '60s'], { cwd, env });
  onTestFinished(() => void child.kill());
  let [output, notices] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    notices += text;
  });
  await expect.poll(() => notices, { timeout: within(15_000) }).toContain('asking again');
  await expect.poll(() => output, { timeout: within(5_000) }).toContain(id);
});
