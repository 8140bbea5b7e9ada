import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { completeSession } from '../harness/completed-session.ts';
import { createPartner, exchangeCode, type TestPartner } from '../harness/partner.ts';
import { adminToken, startTestServer, type TestServer } from '../harness/server.ts';

const headers = { authorization: `Bearer ${adminToken}` };

/** A metric of this process; 0 if it has no value yet. */
async function metricOf({ adminUrl }: TestServer, name: string): Promise<number> {
  const text = await (await fetch(`${adminUrl}/metrics`, { headers })).text();
  const line = text.split('\n').find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

const listenersOf = ({ db }: TestServer) =>
  db.collection('processes').countDocuments({ address: { $exists: true } });

let first: TestServer;
const others: TestServer[] = [];

async function join(env: Record<string, string> = {}): Promise<TestServer> {
  const shared = { MONGODB_URI: first.uri, SVC_BASE_URL: first.baseUrl };
  const server = await startTestServer({ env: { ...shared, ...env } });
  others.push(server);
  return server;
}

async function exchange(server: TestServer, partner: TestPartner): Promise<number> {
  const code = await completeSession(first, partner);
  return (await exchangeCode({ baseUrl: server.publicUrl }, partner, code)).status;
}

beforeAll(async () => {
  first = await startTestServer();
});
afterAll(async () => {
  for (const server of others.toReversed()) await server.stop();
  await first.stop();
});

describe('servers on one database', () => {
  it('do not list one that cannot open its private listener, because it never serves', async () => {
    const { port } = new URL(first.publicUrl);
    const before = await first.db.collection('processes').distinct('_id');
    await expect(join({ SVC_PEER_ADDRESS: `127.0.0.1:${port}` })).rejects.toThrow('is taken');
    expect(await first.db.collection('processes').distinct('_id')).toEqual(before);
  });

  it('agree on one process that writes each wallet, and the other process hands its charges over to it', async () => {
    const second = await join();
    await expect
      .poll(async () => {
        await Promise.all([first.sweep(), second.sweep()]);
        const answering = 'svc_peers{state="answering"}';
        return [await metricOf(first, answering), await metricOf(second, answering)];
      })
      .toEqual([1, 1]);
    const before = await Promise.all(
      [first, second].map((each) => metricOf(each, 'svc_ledger_postings_total{way="answered"}')),
    );
    const partner = await createPartner(first, { client: { tokenRequestsPerMinute: 1_000 } });
    for (const server of [first, second, first, second]) expect(await exchange(server, partner)).toBe(200);
    const after = await Promise.all(
      [first, second].map((each) => metricOf(each, 'svc_ledger_postings_total{way="answered"}')),
    );
    // Two of the four charges came to the process that does not write this wallet. The partner was created at `first`.
    const [atFirst = 0, atSecond = 0] = after.map((count, n) => count - (before[n] ?? 0));
    expect(Math.min(atFirst, atSecond)).toBe(0);
    expect(Math.max(atFirst, atSecond)).toBeGreaterThanOrEqual(2);
    const batches = await Promise.all(
      [first, second].map((each) => metricOf(each, 'svc_batch_size_count{kind="hand_over"}')),
    );
    expect(Math.max(...batches)).toBeGreaterThan(0);
  });

  it('are not in the list of private listeners if they have only the role admin or worker, or SVC_PEER_ADDRESS=off', async () => {
    const count = await listenersOf(first);
    await join({ SVC_ROLES: 'admin' });
    await join({ SVC_ROLES: 'worker', SVC_HEALTH_PORT: 'off' });
    await join({ SVC_PEER_ADDRESS: 'off' });
    expect(await listenersOf(first)).toBe(count);
  });

  it('are each listed once in the status of the service', async () => {
    const { processes } = await first.admin.status.query();
    expect(processes).toHaveLength(others.length + 1);
    expect(new Set(processes?.map(({ id }) => id)).size).toBe(others.length + 1);
  });

  it('disappear from the list of private listeners as soon as they are asked to stop, while they still answer requests', async () => {
    const count = await listenersOf(first);
    const leaving = await join({ SVC_DRAIN_DELAY: '2s' });
    expect(await listenersOf(first)).toBe(count + 1);
    const stopped = leaving.stop();
    others.pop();
    await expect.poll(() => listenersOf(first)).toBe(count);
    expect((await fetch(`${leaving.publicUrl}/healthz`)).status).toBe(200);
    await stopped;
  });
});
