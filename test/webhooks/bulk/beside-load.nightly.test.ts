import { expect, it } from 'vitest';
import { recordingLogger } from '../../harness/log-lines.ts';
import { createPartner, exchangeCode, verifyUser } from '../../harness/partner.ts';
import { createReceiver } from '../../harness/receiver.ts';
import { startTestServer } from '../../harness/server.ts';
import { within } from '../../harness/time-limits.ts';
import { storeFailed } from './failed-deliveries.ts';

const count = 600;
const exchangers = 8;

it('600 resent deliveries cause no timeout of the database pool and no refused exchange', {
  timeout: within(180_000),
}, async () => {
  const { logger, lines } = recordingLogger();
  const server = await startTestServer({ logger, env: { SVC_STARTS_PER_MINUTE: 'off' } });
  try {
    const hooks = await createReceiver((_count, _request, response) => response.writeHead(204).end());
    const other = await createPartner(server, { funds: 0 });
    await server.admin.webhooks.set.mutate({ keyId: other.keyId, url: hooks.url });
    await storeFailed(server, other.keyId, count);
    hooks.received.length = 0;

    const partner = await createPartner(server, { client: { tokenRequestsPerMinute: 100_000 } });
    const { partnerId } = partner;
    await server.admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 100_000, perHour: 100_000 });
    await server.admin.wallets.fund.mutate({ partnerId, mode: 'test', amount: 1_000_000, reference: 'more' });
    const since = new Date(Date.now() - 600_000).toISOString();
    const filter = { keyId: other.keyId, status: 'failed' as const, since };
    const { job } = await server.admin.bulk.start.mutate({ action: 'resend', filter, rate: 100 });
    const bulkId = job?.id ?? expect.fail('no job');

    const isDone = async () => (await server.admin.bulk.show.query({ bulkId })).status === 'done';
    let running = true;
    const statuses: number[] = [];
    const load = Array.from({ length: exchangers }, async () => {
      while (running)
        statuses.push((await exchangeCode(server, partner, await verifyUser(server, partner))).status);
    });
    await expect.poll(isDone, { timeout: within(120_000), interval: 250 }).toBe(true);
    await expect.poll(() => hooks.received.length, { timeout: within(60_000) }).toBe(count);
    running = false;
    await Promise.all(load);

    expect(statuses.length).toBeGreaterThan(exchangers);
    expect(statuses.filter((status) => status !== 200)).toEqual([]);
    const ids = new Set(hooks.received.map(({ headers }) => headers['x-svc-event-id']));
    expect(ids.size).toBe(count);
    const faults = lines.filter((line) => /WaitQueueTimeout|timed out/i.test(JSON.stringify(line)));
    expect(faults).toEqual([]);
  } finally {
    await server.stop();
  }
});
