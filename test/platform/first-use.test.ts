import { spawnSync } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { firstToken, startAdminServer } from '../admin/admin-server.ts';
import { findOrStartServer } from '../journey/local-server.ts';

it('the journey finds the server that svcadmin finds, and takes its base address from there', async () => {
  const server = await startAdminServer();
  onTestFinished(() => server.close());
  const env = { SVCADMIN_URL: server.url, SVCADMIN_TOKEN: firstToken, SVC_PORT: '1' };
  expect(await findOrStartServer(env)).toMatchObject({ found: true, baseUrl: 'http://localhost' });
});

it('git ignores what the quickstart writes secrets into', () => {
  const { stdout } = spawnSync('git', ['check-ignore', 'my-shop/.env'], { encoding: 'utf8' });
  expect(stdout.trim()).toBe('my-shop/.env');
});
