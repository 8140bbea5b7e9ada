import type { Db } from 'mongodb';
import { randomId } from '../../../server/platform/ids.ts';
import {
  type Code,
  createPartner,
  exchangeCode,
  type TestPartner,
  verifyUser,
} from '../../harness/partner.ts';
import { startMeasured } from '../measured-server.ts';
import { startCounter } from '../upgrade/load.ts';

/**
 * Measures what a bulk resend costs concurrent exchanges. Rounds of exchanges alternate between with and without the
 * bulk job. Then the job runs until each delivery is sent once. Arguments: failed deliveries (10000), rate a second
 * (50), rounds of each kind (6).
 */

const [failed = 10_000, rate = 50, rounds = 6] = process.argv.slice(2).map(Number);
const perRound = 60;
/** The time between two exchanges of a round, in milliseconds. */
const exchangeEveryMs = 100;
/** The number of users who get their codes at the same time. */
const inFlight = 6;

const measured = await startMeasured('bulk-load');
const { admin, baseUrl, db } = measured;
const receiver = await startCounter();
const others = await startCounter();

const partner = await createPartner(
  { admin },
  { funds: 10_000_000, client: { tokenRequestsPerMinute: 100_000 } },
);
await admin.limits.set.mutate({
  partnerId: partner.partnerId,
  mode: 'test',
  perMinute: 100_000,
  perHour: 100_000,
});
await admin.webhooks.set.mutate({ keyId: partner.keyId, url: others.url });
const other = await createPartner({ admin });
await admin.webhooks.set.mutate({ keyId: other.keyId, url: receiver.url });

/** Inserts failed deliveries with their events, copied from a sample. */
async function insertFailedDeliveries(db: Db, { keyId }: TestPartner): Promise<void> {
  const { id } = await admin.webhooks.trigger.mutate({ keyId, event: 'vae.resolved' });
  const deliveries = db.collection<{ _id: string }>('deliveries');
  const events = db.collection<{ _id: string }>('events');
  const delivery = await deliveries.findOne({ _id: id });
  const event = await events.findOne({ keyId } as never);
  if (!delivery || !event) throw new Error('the sample is not stored');
  for (let made = 0; made < failed; made += 1_000) {
    const ids = Array.from({ length: Math.min(1_000, failed - made) }, () => randomId('event'));
    const at = new Date(Date.now() - 60_000 + made);
    await events.insertMany(ids.map((_id) => ({ ...event, _id, createdAt: at })));
    const gone = { status: 'failed', createdAt: at, endedAt: at, lease: undefined, nextAttemptAt: undefined };
    await deliveries.insertMany(
      ids.map((eventId) => ({ ...delivery, _id: randomId('delivery'), eventId, ...gone })),
      { ignoreUndefined: true },
    );
  }
}

async function codes(count: number): Promise<Code[]> {
  const made: Code[] = [];
  const user = async () => {
    while (made.length < count) made.push(await verifyUser({ baseUrl }, partner));
  };
  await Promise.all(Array.from({ length: inFlight }, user));
  return made.slice(0, count);
}

/**
 * Exchanges codes at a steady rate, even if earlier ones have no answer yet.
 * @returns the time of each exchange in milliseconds
 */
async function exchangeAll(wanted: readonly Code[]): Promise<number[]> {
  const began = performance.now();
  return Promise.all(
    wanted.map(async (code, at) => {
      await new Promise((resolve) =>
        setTimeout(resolve, Math.max(0, began + at * exchangeEveryMs - performance.now())),
      );
      const sent = performance.now();
      const answer = await exchangeCode({ baseUrl }, partner, code);
      if (answer.status !== 200) throw new Error(`exchange: ${answer.status}`);
      return performance.now() - sent;
    }),
  );
}

const filter = { keyId: other.keyId, since: new Date(0).toISOString(), status: 'failed' as const };
const startJob = async () => (await admin.bulk.start.mutate({ action: 'resend', filter, rate })).job;

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, two) => one - two);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}

await insertFailedDeliveries(db, other);
await exchangeAll(await codes(perRound));
const without: number[] = [];
const beside: number[] = [];
for (let round = 0; round < rounds; round += 1) {
  const kinds = round % 2 === 0 ? (['without', 'beside'] as const) : (['beside', 'without'] as const);
  for (const kind of kinds) {
    const wanted = await codes(perRound);
    const job = kind === 'beside' ? await startJob() : null;
    if (kind === 'beside' && !job) throw new Error('nothing is left to be resent');
    (kind === 'beside' ? beside : without).push(...(await exchangeAll(wanted)));
    if (job) await admin.bulk.cancel.mutate({ bulkId: job.id });
  }
}

const row = (name: string, values: readonly number[]) =>
  `| ${name} | ${values.length} | ${[0.5, 0.95, 0.99].map((share) => quantile(values, share).toFixed(1)).join(' | ')} |\n`;
process.stdout.write(
  `${failed} failed deliveries, resent at ${rate}/s beside ${1000 / exchangeEveryMs} exchanges a second\n\n`,
);
process.stdout.write('| | exchanges | p50 ms | p95 ms | p99 ms |\n| --- | --: | --: | --: | --: |\n');
process.stdout.write(row('without', without) + row('beside the job', beside));
const ratio = (share: number) => (quantile(beside, share) / quantile(without, share)).toFixed(2);
process.stdout.write(`\nratios: p50 ${ratio(0.5)}, p95 ${ratio(0.95)}, p99 ${ratio(0.99)}\n`);

const last = await startJob();
const began = performance.now();
for (let job = last; job?.status === 'running'; job = await admin.bulk.show.query({ bulkId: job.id }))
  await new Promise((resolve) => setTimeout(resolve, 1_000));
const seconds = (performance.now() - began) / 1000;
const rest = last
  ? `${last.total} more in ${seconds.toFixed(0)} s (${(last.total / seconds).toFixed(1)}/s)`
  : 'none left';
const deliveries = db.collection('deliveries');
const sent = { keyId: other.keyId, trigger: 'resend' };
for (let waiting = 1; waiting > 0; ) {
  waiting = await deliveries.countDocuments({ ...sent, status: { $in: ['pending', 'in_flight'] } });
  await new Promise((resolve) => setTimeout(resolve, 200));
}
const [made, delivered] = [await deliveries.countDocuments(sent), receiver.count('vae.resolved')];
process.stdout.write(
  `then ${rest}; ${made} deliveries were made for ${failed} failed ones, ${delivered} events arrived\n`,
);

await measured.end();
receiver.close();
others.close();
process.exitCode = made === failed ? 0 : 1;
