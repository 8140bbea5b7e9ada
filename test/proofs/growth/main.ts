// `npm run growth`: builds a database with the data of some years, and prints the cost of each query of operators and
// monitoring. It exits with 1 if a query reads a whole collection, or exceeds its time limit.
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { parseArgs } from 'node:util';
import { createTRPCClient, httpLink } from '@trpc/client';
import { type CommandStartedEvent, type Db, MongoClient } from 'mongodb';
import { startEmbedded } from '../../../embedded-database/embedded.ts';
import type { AdminRouter } from '../../../server/operations/admin-router.ts';
import { readConfig } from '../../../server/platform/config/config.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { startServer } from '../../../server/process/start.ts';
import { adminQueries, type Queries } from '../../harness/admin-queries.ts';
import { isKeyringRead, type SentCommand } from '../../harness/statements.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { build } from './build.ts';
import { type Cost, costOf, table } from './measure.ts';
import { makeTemplates } from './templates.ts';

const help = `npm run growth -- [options]

  --deliveries N  how many webhook deliveries the database has (1000000)
  --wallets N     how many wallets (10000)
  --most N        milliseconds that a query may take, at the median (300)
`;

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        deliveries: { type: 'string', default: '1000000' },
        wallets: { type: 'string', default: '10000' },
        most: { type: 'string', default: '300' },
        help: { type: 'boolean', default: false },
      },
    });
    const [deliveries, wallets, most] = [values.deliveries, values.wallets, values.most].map(Number);
    if (!(Number(deliveries) >= 1_000 && Number(wallets) >= 2 && Number(most) > 0))
      throw new Error('--deliveries takes a number from 1000 on, --wallets one from 2 on');
    return {
      deliveries: Number(deliveries),
      wallets: Number(wallets),
      most: Number(most),
      help: values.help,
    };
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${help}`);
    process.exit(2);
  }
}

const options = readOptions();
if (options.help) {
  process.stdout.write(help);
  process.exit(0);
}

const token = 'svc_admin_0123456789012345678901234567890123456789012';
const logger = createLogger('warn');
const dataDir = temporaryFolder('growth');
const engine = await startEmbedded({ dataDir, logger: createLogger('silent') });
const sent: SentCommand[] = [];
let found: Db | undefined;
/** The hosted pages link to the port by its number. */
const listener = createServer().listen(0, '127.0.0.1');
await once(listener, 'listening');
const { port } = listener.address() as AddressInfo;
listener.close();
await once(listener, 'close');
const config = readConfig({
  ...{ SVC_PORT: String(port), SVC_ADMIN_PORT: '0', SVC_DATA_DIR: dataDir, SVC_ADMIN_TOKEN: token },
  // There is no worker, because it would send the pending deliveries.
  ...{ SVC_ROLES: 'api,admin', SVC_DEMO_PORT: 'off', SVC_STARTS_PER_MINUTE: 'off' },
  MONGODB_URI: `${engine.uri}${engine.uri.includes('?') ? '&' : '?'}monitorCommands=true`,
});
const server = await startServer(config, logger, {
  sweepsByHand: true,
  foundation({ client, db }) {
    found = db;
    client.on('commandStarted', ({ commandName, command }: CommandStartedEvent) => {
      if (!isKeyringRead(command)) sent.push({ commandName, command });
    });
    return {};
  },
});
if (!found) throw new Error('the server has no database');
const db: Db = found;
const adminUrl = server.adminUrl ?? '';
const { baseUrl } = config;
const headers = { authorization: `Bearer ${token}` };
const admin = createTRPCClient<AdminRouter>({ links: [httpLink({ url: `${adminUrl}/trpc`, headers })] });

const started = performance.now();
const note = (what: string) =>
  process.stderr.write(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${what}\n`);

async function page(path: string): Promise<void> {
  const answer = await fetch(`${adminUrl}${path}`, { headers });
  await answer.text();
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`);
}

async function measure(): Promise<Cost[]> {
  const { templates, entryId } = await makeTemplates({ admin, baseUrl }, db);
  // The server's own connections have a timeout of seconds, but a large insert can wait longer for the disk.
  const filling = await MongoClient.connect(engine.uri);
  await build(filling.db(db.databaseName), options, { templates, note });
  await filling.close();
  for (let wallets = 0; wallets < options.wallets; wallets += 2_000) await server.sweep();
  note('summaries of all wallets');
  const idIn = async (collection: string) =>
    String((await db.collection(collection).findOne({}, { sort: { _id: -1 } }))?.['_id']);
  const { partnerId, keyId, clientId } = templates.delivery as Record<string, string>;
  const queries = adminQueries(admin, {
    ...{
      partnerId: String(partnerId),
      keyId: String(keyId),
      clientId: clientId ?? String(templates.client['_id']),
    },
    ...{ sessionId: await idIn('sessions'), enrollmentId: await idIn('enrollments'), entryId },
    ...{
      sub: String(templates.event['sub']),
      eventId: await idIn('events'),
      deliveryId: await idIn('deliveries'),
    },
    ...{ requestId: await idIn('requestLog'), jobId: undefined, integrationId: undefined },
  });
  const asked: Queries = {
    ...queries,
    '/metrics (read of the database)': () => page('/metrics'),
    '/ops (read of the database)': () => page('/ops'),
  };
  const costs: Cost[] = [];
  for (const [name, ask] of Object.entries(asked)) if (ask) costs.push(await costOf(name, ask, { db, sent }));
  return costs;
}

let status = 0;
try {
  const costs = await measure();
  process.stdout.write(`${table(costs)}\n`);
  const slow = costs.filter(
    ({ first, median, name }) => (name.startsWith('/metrics') ? first : median) > options.most,
  );
  for (const { name } of slow) process.stdout.write(`too slow: ${name}\n`);
  const faults = costs.flatMap(({ name, faults: all }) => all.map((fault) => `${name}: ${fault}`));
  for (const fault of faults) process.stdout.write(`${fault}\n`);
  status = slow.length + faults.length > 0 ? 1 : 0;
} finally {
  await server.stop();
  await engine.stop();
}
process.exit(status);
