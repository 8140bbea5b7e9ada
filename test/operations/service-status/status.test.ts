import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ServiceStatus } from '../../../contracts/service-status.ts';
import { createPartner, exchangeCode, verifyUser } from '../../harness/partner.ts';
import { shiftedClock, startTestServer, type TestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { startBehindProxy } from '../../platform/behind-proxy.ts';

const minute = 60_000;
const browser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };

describe('/status', () => {
  const clock = shiftedClock();
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer({ clock });
  });
  afterAll(() => server.stop());

  const open = (path: string, init?: RequestInit) => fetch(`${server.baseUrl}${path}`, init);
  /** Reads the status after 20 s, so that no cached status is returned. */
  async function read(): Promise<ServiceStatus> {
    clock.ahead += 20_000;
    return ServiceStatus.parse(await (await open('/status.json')).json());
  }
  const hours = () => server.db.collection<{ _id: string; errors: number; requests: number }>('serviceHours');

  it('is an HTML page for browsers, and the same content as JSON for programs', async () => {
    const page = await open('/status', browser);
    const html = await page.text();
    expect([page.status, page.headers.get('vary')]).toEqual([200, expect.stringContaining('accept')]);
    expect(html).toContain('<p class="state operational">The service works</p>');
    expect(html).not.toMatch(/<!-- status -->|style="|\bon\w+="/);
    const json = await open('/status', { headers: { accept: '*/*' } });
    expect(json.headers.get('content-type')).toContain('application/json');
    expect(ServiceStatus.parse(await json.json()).status).toBe('operational');
  });

  it('counts requests and server errors, but not the errors that sandbox users cause on purpose', async () => {
    const partner = await createPartner(server);
    for (const person of ['adult', 'unavailable'])
      await exchangeCode(server, partner, await verifyUser(server, partner, person));
    await server.services.status.flush();
    const before = await read();
    expect(before.spans[0]?.requests).toBeGreaterThan(8);
    expect(before.spans[0]?.errors).toBe(0);
    const [hour] = await hours().find().toArray();
    await hours().updateOne({ _id: hour?._id ?? '' }, { $inc: { errors: 10 } });
    const after = await read();
    expect([after.status, after.spans[0]?.errors, after.incidents[0]?.kind]).toEqual([
      'errors',
      10,
      'errors',
    ]);
    expect(await (await open('/status', browser)).text()).toContain('One request in a hundred');
    await hours().updateOne({ _id: hour?._id ?? '' }, { $inc: { errors: -10 } });
  });

  it('contains no name or id of a partner', async () => {
    const { partnerId, clientId } = await createPartner(server);
    const [json, html] = await Promise.all(
      [open('/status.json'), open('/status', browser)].map(async (answer) => (await answer).text()),
    );
    for (const text of [json, html]) {
      expect(text).not.toContain(partnerId);
      expect(text).not.toContain(clientId);
    }
  });

  it('reports a time without records as an incident', async () => {
    await server.sweep();
    clock.ahead += 10 * minute;
    await server.sweep();
    clock.ahead += 3 * minute;
    const { incidents } = await read();
    const outage = incidents.find(({ kind, until }) => kind === 'unavailable' && until !== null);
    expect(outage?.minutes).toBeGreaterThanOrEqual(8);
    expect(outage?.minutes).toBeLessThanOrEqual(10);
  });
});

describe('/status while the database is away', () => {
  it('reports the outage with its start, and the earlier records', async () => {
    const { server, proxy, stop } = await startBehindProxy();
    try {
      const read = async () =>
        ServiceStatus.parse(await (await fetch(`${server.baseUrl}/status.json`)).json());
      await server.sweep();
      const before = await read();
      expect([before.status, before.days.length]).toEqual(['operational', 1]);
      await proxy.cut();
      await expect.poll(async () => (await read()).status, { timeout: within(20_000) }).toBe('unavailable');
      const away = await read();
      expect(away.incidents).toEqual([expect.objectContaining({ kind: 'unavailable', until: null })]);
      expect(away.days).toEqual(before.days);
      const page = await fetch(`${server.baseUrl}/status`, browser);
      expect([page.status, await page.text()]).toEqual([
        200,
        expect.stringContaining('The service is not available'),
      ]);
      await proxy.restore();
      await expect.poll(async () => (await read()).status, { timeout: within(30_000) }).toBe('operational');
    } finally {
      await stop();
    }
  });
});
