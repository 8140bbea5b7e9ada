import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  adminToken,
  type ManualClock,
  manualClock,
  startTestServer,
  type TestServer,
} from '../../harness/server.ts';

let server: TestServer;
let clock: ManualClock;

beforeAll(async () => {
  clock = manualClock();
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

async function call(base: string, path: string) {
  const response = await fetch(`${base}${path}`);
  return { status: response.status, body: await response.json() };
}

/** Samples of /metrics with this name prefix, by their labels. */
async function scrape(name: string): Promise<Record<string, number>> {
  const headers = { authorization: `Bearer ${adminToken}` };
  const text = await (await fetch(`${server.adminUrl}/metrics`, { headers })).text();
  const samples = text.split('\n').filter((line) => line.startsWith(name));
  return Object.fromEntries(
    samples.map((line) => [line.slice(name.length, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  );
}

// database-away.test.ts tests an unreachable database.
describe('/readyz', () => {
  it('answers 200 on both listeners while the process can serve, as does /healthz', async () => {
    for (const base of [server.baseUrl, server.adminUrl]) {
      expect(await call(base, '/healthz')).toEqual({ status: 200, body: { status: 'ok' } });
      expect(await call(base, '/readyz')).toEqual({ status: 200, body: { ready: true, reasons: [] } });
    }
  });

  it('answers 503 if requests have reached the limit and none has ended for 10 s', async () => {
    const { capacity } = server.services;
    let taken = 0;
    while (capacity.take({ kind: 'authenticated' })) taken += 1;
    const later = performance.now() + 10_001;
    const time = vi.spyOn(performance, 'now').mockImplementation(() => later);
    onTestFinished(() => time.mockRestore());
    expect(await call(server.baseUrl, '/readyz')).toEqual({
      status: 503,
      body: { ready: false, reasons: [expect.stringContaining('none was given back for 10 s')] },
    });
    for (; taken > 0; taken -= 1) capacity.giveBack({ kind: 'authenticated' });
    expect((await call(server.baseUrl, '/readyz')).status).toBe(200);
  });

  it('answers 503 with the reason while the clock is not trusted; /healthz still answers 200', async () => {
    clock.distrust();
    for (const base of [server.baseUrl, server.adminUrl]) {
      expect(await call(base, '/readyz')).toEqual({
        status: 503,
        body: { ready: false, reasons: [expect.stringMatching(/^the clock is more than 2 s off/)] },
      });
      expect((await call(base, '/healthz')).status).toBe(200);
    }
  });

  it('has a metric in /metrics for each of its reasons, and one for the offset of the clock', async () => {
    const others = ['stopping', 'starting', 'outdated', 'database', 'writes', 'requests', 'keys'];
    const ready = Object.fromEntries(others.map((reason) => [`{reason="${reason}"}`, 1]));
    expect(await scrape('svc_ready')).toEqual({ ...ready, '{reason="clock"}': 0 });
    clock.offset = () => -1_500;
    expect(await scrape('svc_clock_offset_seconds')).toEqual({ '': -1.5 });
  });
});
