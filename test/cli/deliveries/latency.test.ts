import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLatencies } from '../../../cli/deliveries/latency.ts';
import { startTestServer, type TestServer } from '../../harness/server.ts';
import { type CommandLine, commandLine } from '../svcadmin.ts';

const hour = 3_600_000;
let server: TestServer;
let svcadmin: CommandLine;
beforeAll(async () => {
  server = await startTestServer();
  svcadmin = await commandLine(server.adminUrl);
});
afterAll(() => server.stop());

describe('latencies of endpoints', () => {
  const delivery = (keyId: string, attempts: [at: string, durationMs: number | null][]) => ({
    ...{ keyId, partnerId: 'ptr_1', partnerName: null, mode: 'test' as const },
    attempts: attempts.map(([at, durationMs]) => ({ at, durationMs })) as never,
  });

  it('have the median and the p95 of the span and of the span before, the slowest endpoint first', () => {
    const latencies = createLatencies({ since: '2026-07-02', until: '2026-07-03' });
    for (let n = 1; n <= 100; n += 1) latencies.add(delivery('key_a', [['2026-07-02T01', n]]));
    latencies.add(delivery('key_a', [['2026-07-01T01', 48]]));
    latencies.add(
      delivery('key_b', [
        ['2026-07-02T01', 500],
        ['2026-07-02T02', null],
        ['2026-07-03T00', 900],
      ]),
    );
    latencies.add(delivery('key_c', [['2026-07-01T01', 10]]));
    expect(latencies.rows()).toMatchObject([
      { keyId: 'key_b', attempts: 1, p50: 500, p95: 500, before: { attempts: 0, p95: null }, change: null },
      { keyId: 'key_a', attempts: 100, p50: 51, p95: 96, before: { attempts: 1, p95: 48 }, change: 2 },
      { keyId: 'key_c', attempts: 0, p50: null, change: null, before: { attempts: 1 } },
    ]);
  });

  it('are measured by svcadmin deliveries latency, for the given span', async () => {
    const now = Date.now();
    const rows = [0.2, 0.4, 1.5, 26, 50].map((hoursAgo, n) => {
      const at = new Date(now - hoursAgo * hour);
      return {
        ...{ _id: `dlv_${n}`, eventId: 'evt_1', type: 'vae.resolved', partnerId: 'ptr_1', keyId: 'key_1' },
        ...{
          mode: 'test',
          status: 'delivered',
          attempt: 1,
          trigger: 'schedule',
          lane: 'first',
          createdAt: at,
        },
        ...{ endedAt: at, purgeAt: new Date(now + hour) },
        attempts: [
          { attempt: 1, trigger: 'schedule', dueAt: at, at, durationMs: (n + 1) * 100, status: 200 },
        ],
      };
    });
    await server.db.collection<{ _id: string }>('deliveries').insertMany(rows as never);
    expect(await svcadmin.json('deliveries', 'latency', '--since', '1h')).toMatchObject([
      { keyId: 'key_1', attempts: 2, p95: 200, before: { attempts: 1, p95: 300 }, change: 0.67 },
    ]);
    const slower = ['deliveries', 'latency', '--since', '1h', '--where', 'change>2'];
    expect(await svcadmin.json(...slower)).toEqual([]);
    expect(await svcadmin.json('deliveries', 'latency', '--since', '1h', '--until', '18m')).toMatchObject([
      { attempts: 1, p95: 200, before: { attempts: 1, p95: 300 }, change: 0.67 },
    ]);
    expect(await svcadmin.json('deliveries', 'latency', '--since', '30m', '--until', '18m')).toMatchObject([
      { attempts: 1, p95: 200, before: { attempts: 0 }, change: null },
    ]);
    // Without --since, the span is the day before its end, also if that is long ago.
    expect(await svcadmin.json('deliveries', 'latency', '--until', '25h')).toMatchObject([
      { attempts: 1, p95: 400, before: { attempts: 1, p95: 500 }, change: 0.8 },
    ]);
    const backwards = await svcadmin.run(['deliveries', 'latency', '--since', '1h', '--until', '2h']);
    expect(backwards.stderr).toMatch(/The period ends \(.+\) before it begins/);
  });
});

describe('svcadmin status --history', () => {
  it('shows what the public page reports', async () => {
    const history = await svcadmin.json('status', '--history');
    expect(history).toMatchObject({ incidents: [], spans: [{ hours: 24 }, {}, {}] });
    expect((await svcadmin.run(['status', '--history'])).stdout).toContain('Last 24 hours: available');
  });
});
