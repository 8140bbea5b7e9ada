import { afterAll, beforeAll, expect, it } from 'vitest';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { commandLine } from '../svcadmin.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
  const nextAttemptAt = new Date(Date.now() + 3_600_000);
  const row = { keyId: 'key_a', partnerId: 'ptr_a', mode: 'live', type: 'vae.resolved', trigger: 'event' };
  await server.db
    .collection<{ _id: string }>('deliveries')
    .insertOne({ _id: 'dlv_1', ...row, attempt: 1, attempts: [], status: 'pending', nextAttemptAt } as never);
});
afterAll(() => server.stop());

it('svcadmin deliveries schedule prints what waits by the chosen columns, and refuses unknown ones', async () => {
  const svcadmin = await commandLine(server.adminUrl);
  const schedule = (...args: string[]) => svcadmin.run(['deliveries', 'schedule', ...args]);
  const shown = await schedule('--by', 'mode,event,why');
  expect(shown.stdout).toBe('mode\tevent\twhy\tcount\nlive\tvae.resolved\tevent\t1\n');
  expect(shown.stderr).toBe('1 wait, 0 of them due already.\n');
  expect((await schedule('--by', 'key', '--csv')).stdout).toBe('key_id,count\nkey_a,1\n');
  expect((await schedule('--until', '+30m', '--mode', 'live')).stderr).toMatch(
    /0 wait, 0 of them due already, only --mode live --until \d{4}-\S+ \S+\.\n$/,
  );
  expect((await schedule('--mode', 'test')).stdout).toBe('');
  expect(await svcadmin.json('deliveries', 'schedule', '--since', '+30m')).toMatchObject({
    total: 1,
    exact: true,
  });
  for (const by of ['colour', 'minute,hour', ' ', 'constructor'])
    expect(await schedule('--by', by)).toMatchObject({ code: 2, stdout: '' });
});
