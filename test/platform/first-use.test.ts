import { spawnSync } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { adminToken, startTestServer } from '../harness/server.ts';
import { findOrStartServer } from '../journey/local-server.ts';

it('findOrStartServer, of the journey, returns the base URL of the server that runs at SVCADMIN_URL', async () => {
  const server = await startTestServer();
  onTestFinished(() => server.stop());
  const env = { SVCADMIN_URL: server.adminUrl, SVCADMIN_TOKEN: adminToken, SVC_PORT: '1' };
  expect(await findOrStartServer(env)).toMatchObject({ wasRunning: true, baseUrl: server.baseUrl });
});

it('git ignores the files into which the quickstart writes secrets', () => {
  const { stdout } = spawnSync('git', ['check-ignore', 'my-shop/.env'], { encoding: 'utf8' });
  expect(stdout.trim()).toBe('my-shop/.env');
});
