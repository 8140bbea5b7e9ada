import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished, vi } from 'vitest';
import { check } from '../../server/process/check.ts';
import { freePort } from '../harness/free-port.ts';
import { adminToken, startTestServer } from '../harness/server.ts';

const program = fileURLToPath(new URL('../../dist/server/svc-gateway.js', import.meta.url));

/** Runs `svc-gateway` with these arguments. Resolves to its exit code and its output. */
const svcGateway = (parameters: string[], env: Record<string, string> = {}) =>
  new Promise<{ code: number | string; output: string }>((resolve) => {
    execFile(process.execPath, [program, ...parameters], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, output: stdout + stderr }),
    );
  });

/** What `svc-gateway check` does, in this process. */
async function checkHere(env: Record<string, string>) {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  const isAble = await check(env);
  const output = write.mock.calls.flat().join('');
  write.mockRestore();
  return { isAble, output };
}

it('a worker serves only probes and its own metrics on SVC_HEALTH_PORT', async () => {
  const port = String(await freePort());
  const env = { SVC_ROLES: 'worker', SVC_HEALTH_PORT: port };
  expect((await checkHere(env)).isAble).toBe(false);
  const worker = await startTestServer({ env });
  onTestFinished(() => worker.stop());
  const get = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const statusOf = async (path: string) => (await get(path)).status;
  expect(await statusOf('/healthz')).toBe(200);
  expect(await statusOf('/readyz')).toBe(200);
  expect(await statusOf('/metrics')).toBe(401);
  const metrics = await (await get('/metrics', { authorization: `Bearer ${adminToken}` })).text();
  expect(metrics).toMatch(/^svc_build_info\{.*role="worker"\} 1$/m);
  expect(metrics).toMatch(/^svc_scheduler_tick_age_seconds /m);
  expect(metrics).toMatch(/^svc_database_up 1$/m);
  expect(await statusOf('/ops')).toBe(404);
  expect(await statusOf('/.well-known/jwks.json')).toBe(404);
  expect(await svcGateway(['check'], env)).toEqual({
    code: 0,
    output: `http://127.0.0.1:${port}/readyz: 200 {"ready":true,"reasons":[]}\n`,
  });
});

it('svc-gateway prints its version and usage, and exits with 64 and the usage for an unknown command', async () => {
  expect(await svcGateway(['--version'])).toEqual({ code: 0, output: '0.8.0\n' });
  const help = await svcGateway(['--help']);
  expect(help.output).toContain('svc-gateway check');
  for (const command of ['start', 'check', 'backup', 'restore', 'restored'])
    expect(await svcGateway([command, '--help'])).toEqual(help);
  const unknown = [['serve'], ['backup', '-h'], ['backup', ''], ['restore', '--force'], ['start', 'x']];
  for (const wrong of [...unknown, ['restored', '--compare']])
    expect(await svcGateway(wrong)).toMatchObject({
      code: 64,
      output: expect.stringContaining('svc-gateway check'),
    });
});

it('svc-gateway check asks no listener with the port 0, and exits with 1 if a process has no other', async () => {
  const anyPort = { SVC_PORT: '0', SVC_ADMIN_PORT: '0' };
  expect(await svcGateway(['check'], anyPort)).toEqual({
    code: 1,
    output: 'no listener to ask, because each has the port 0: set SVC_HEALTH_PORT to a port\n',
  });
  const port = String(await freePort());
  for (const name of ['SVC_ADMIN_PORT', 'SVC_HEALTH_PORT'])
    expect(await checkHere({ ...anyPort, [name]: port })).toEqual({
      isAble: false,
      output: expect.stringContaining(`http://127.0.0.1:${port}/readyz: `),
    });
});

it('svc-gateway check exits with 78 and names the malformed variable', async () => {
  const { code, output } = await svcGateway(['check'], { SVC_PORT: 'http' });
  expect(code).toBe(78);
  expect(output).toMatch(/SVC_PORT: /);
  expect(output).not.toMatch(/ {4}at /);
});
