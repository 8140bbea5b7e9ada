import type { Db } from 'mongodb';
import { createPartner, exchangeCode, verifyUser } from '../../harness/partner.ts';
import { within } from '../../harness/time-limits.ts';
import { startMeasured } from '../measured-server.ts';
import { startCounter } from '../upgrade/load.ts';

/**
 * Measures how much the database grows with exchanges, each of a new user with two delivered events: bytes of documents
 * (BSON, before compression) by collection. It omits indexes and compression, because the embedded engine does not
 * report them.
 */

const exchanges = Number(process.argv[2] ?? 600);
/** The number of simultaneous users, and so the most exchanges on one ledger page. */
const inFlight = 16;

interface Size {
  documents: number;
  bytes: number;
}

async function sizes(db: Db): Promise<Map<string, Size>> {
  const found = new Map<string, Size>();
  for (const { collectionName } of await db.collections()) {
    const [size] = await db
      .collection(collectionName)
      .aggregate<Size>([
        { $group: { _id: null, documents: { $sum: 1 }, bytes: { $sum: { $bsonSize: '$$ROOT' } } } },
      ])
      .toArray();
    if (size) found.set(collectionName, size);
  }
  return found;
}

const measured = await startMeasured('size');
const { admin, baseUrl, db } = measured;
const counter = await startCounter();
const partner = await createPartner(
  { admin },
  { funds: 10_000_000, client: { tokenRequestsPerMinute: 1_000_000 } },
);
const { partnerId, keyId } = partner;
await admin.limits.set.mutate({ partnerId, mode: 'test', perMinute: 1_000_000, perHour: 1_000_000 });
await admin.webhooks.set.mutate({ keyId, url: counter.url });

async function exchange(count: number): Promise<void> {
  let left = count;
  const user = async () => {
    for (left -= 1; left >= 0; left -= 1) {
      const { status } = await exchangeCode(
        { baseUrl },
        partner,
        await verifyUser({ baseUrl }, partner, 'new-adult'),
      );
      if (status !== 200) throw new Error(`exchange: ${status}`);
    }
  };
  const events = () => counter.count('verification.session.completed');
  const from = events();
  await Promise.all(Array.from({ length: inFlight }, user));
  for (const deadline = Date.now() + within(60_000); events() < from + count && Date.now() < deadline; )
    await new Promise((resolve) => setTimeout(resolve, 100));
}

await exchange(50);
const before = await sizes(db);
await exchange(exchanges);
const after = await sizes(db);
process.stdout.write(`${exchanges} exchanges of new users, ${inFlight} at a time\n\n`);
process.stdout.write('| collection | documents per exchange | bytes per exchange |\n| --- | --: | --: |\n');
let total = 0;
for (const [name, size] of [...after].toSorted(([, a], [, b]) => b.bytes - a.bytes)) {
  const { documents, bytes } = before.get(name) ?? { documents: 0, bytes: 0 };
  const perExchange = (size.bytes - bytes) / exchanges;
  if (perExchange < 1) continue;
  total += perExchange;
  const count = ((size.documents - documents) / exchanges).toFixed(2);
  process.stdout.write(`| \`${name}\` | ${count} | ${Math.round(perExchange).toLocaleString('en')} |\n`);
}
process.stdout.write(`| all | | ${Math.round(total).toLocaleString('en')} |\n`);

await measured.end();
counter.close();
