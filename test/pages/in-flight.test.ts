import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPartner, type TestPartner } from '../harness/partner.ts';
import { within } from '../harness/time-limits.ts';
import { type BehindProxy, startBehindProxy } from '../platform/behind-proxy.ts';

/** The limit of concurrent user requests of a process. */
const most = 256;
let site: BehindProxy;
let partner: TestPartner;

beforeAll(async () => {
  site = await startBehindProxy();
  partner = await createPartner(site.server);
});
afterAll(() => site.stop());

const page = '/verify/session/ses_0000000000000000000000';
const get = (path: string, accept = 'text/html') =>
  fetch(`${site.server.baseUrl}${path}`, { headers: { accept }, redirect: 'manual' });

/** Returns the number of user requests that this process is answering. */
async function usersInFlight(): Promise<number> {
  const { registry } = site.server.services.processMetrics;
  const metric = await registry.getSingleMetricAsString('svc_requests_in_flight');
  return Number(/\{caller="user"\} (\d+)/.exec(metric)?.[1] ?? 0);
}

describe('requests of users in flight', () => {
  it('are limited to 256: the next one gets 503 with Retry-After, and style sheets are still served', async () => {
    const home = await (await get(page)).text();
    const [style = ''] = /\/verify\/assets\/[^"]+\.css/.exec(home) ?? [];
    await site.proxy.hang();
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

    await site.proxy.restore();
    await Promise.all(answers);
    await expect.poll(usersInFlight).toBe(0);
  });
});
