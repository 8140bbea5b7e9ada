import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderEnv } from '../../cli/onboarding/credentials.ts';
import { codeBlocks } from '../contract/markdown.ts';
import { hasProgram, start } from '../contract/programs.ts';
import { freePort } from '../harness/free-port.ts';
import { createPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { temporaryFolder } from '../harness/temporary-folder.ts';
import { within } from '../harness/time-limits.ts';
import { expectApp, save } from './apps.ts';

const run = promisify(execFile);
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

describe.each([
  { page: 'sdk-typescript.md', program: 'node' },
  { page: 'sdk-python.md', program: 'python3' },
  { page: 'sdk-php.md', program: 'php' },
])('docs/$page', ({ page, program }) => {
  it('has code blocks that, copied without a change, lead from an empty folder to the first verified webhook', async ({
    skip,
  }) => {
    if (!hasProgram(program)) skip(`this machine has no ${program}`);
    const [cwd, port] = [temporaryFolder('sdk'), await freePort()];
    const adapted = (text: string) => text.replaceAll('3000', String(port));
    const blocks = codeBlocks(page);
    for (const { file, code } of blocks) if (file) save(cwd, file, adapted(code));
    const redirectUri = `http://localhost:${port}/callback`;
    const { clientId, clientSecret, apiKey, keyId } = await createPartner(server, {
      client: { redirectUris: [redirectUri] },
    });
    const url = `http://localhost:${port}/hooks`;
    const { signingSecret } = await server.admin.webhooks.set.mutate({ keyId, url });
    const env = {
      ...{ SVC_BASE_URL: server.baseUrl, SVC_CLIENT_ID: clientId, SVC_CLIENT_SECRET: clientSecret },
      ...{ SVC_API_KEY: apiKey, SVC_REDIRECT_URI: redirectUri, SVC_WEBHOOK_SECRET: signingSecret },
    };
    save(cwd, 'my-shop/.env', renderEnv(env).join('\n'));
    for (const { role, code } of blocks) if (role === 'run') await run('bash', ['-euc', code], { cwd });
    const { code = '' } = blocks.find(({ role }) => role === 'start') ?? {};
    const app = await start(['bash', '-euc', adapted(code)], { cwd, env: { TMPDIR: cwd }, port });

    await expectApp({ port }, server.baseUrl);
    for (const event of [
      'enrollment.created',
      'verification.session.completed',
      'verification.session.failed',
    ])
      await expect.poll(app.lines, { timeout: within(20_000) }).toContain(`event ${event}`);
    const headers = { 'x-svc-signature': `sha256=${'0'.repeat(64)}` };
    const forged = await fetch(url, { method: 'POST', headers, body: '{}' });
    expect([forged.status, await forged.text()]).toEqual([401, expect.stringContaining('invalid_signature')]);
    const unsigned = await fetch(url, { method: 'POST', body: '{}' });
    expect([unsigned.status, await unsigned.text()]).toEqual([
      401,
      expect.stringContaining('missing_signature'),
    ]);
    if (program !== 'node') return;
    const { code: command = '' } = blocks.find(({ role }) => role === 'test') ?? {};
    const driven = await run('bash', ['-euc', command], { cwd });
    expect(driven.stdout).toBe('{ age_18_plus: true }\n');
  });
});
