import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freshDatabase } from '../harness/database.ts';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { startTestServer, type TestServer } from '../harness/server.ts';
import { within } from '../harness/time-limits.ts';
import { startTcpProxy } from '../platform/tcp-proxy.ts';

/** Requests of users that a process has in flight. */
const most = 256;
let database: Awaited<ReturnType<typeof freshDatabase>>;
let proxy: Awaited<ReturnType<typeof startTcpProxy>>;
let server: TestServer;
let partner: TestPartner;

beforeAll(async () => {
  database = await freshDatabase({ keep: true });
  const url = new URL(database.uri);
  proxy = await startTcpProxy(Number(url.port));
  url.port = String(proxy.port);
  url.searchParams.set('directConnection', 'true');
  server = await startTestServer({ env: { MONGODB_URI: url.href } });
  partner = await createPartner(server);
});
afterAll(async () => {
  await proxy.restore();
  await server.stop();
  await proxy.stop();
  await database.drop();
});

const page = '/verify/session/ses_0000000000000000000000';
const get = (path: string, accept = 'text/html') =>
  fetch(`${server.baseUrl}${path}`, { headers: { accept }, redirect: 'manual' });

/** How many requests of users this process is answering. */
async function usersInFlight(): Promise<number> {
  const { registry } = server.services.processMetrics;
  const metric = await registry.getSingleMetricAsString('svc_requests_in_flight');
  return Number(/\{caller="user"\} (\d+)/.exec(metric)?.[1] ?? 0);
}

describe('requests of users in flight', () => {
  it('are bounded: one more is a page with 503 and Retry-After, and style sheets are not refused', async () => {
    const home = await (await get(page)).text();
    const [style = ''] = /\/verify\/assets\/[^"]+\.css/.exec(home) ?? [];
    await proxy.hang();
    const answers = Array.from({ length: most }, () => get(page));
    await expect.poll(usersInFlight, { timeout: within(10_000) }).toBe(most);

    const refused = await get(page);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await refused.text()).toContain('<html');
    const program = await get(`/verify/start?client_id=${partner.clientId}`, 'application/json');
    expect(await program.json()).toMatchObject({
      success: false,
      error: expect.stringContaining('in flight'),
    });
    expect((await get(style)).status).toBe(200);

    await proxy.restore();
    await Promise.all(answers);
    await expect.poll(usersInFlight).toBe(0);
  });
});
