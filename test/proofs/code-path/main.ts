import { readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTRPCClient, httpLink } from '@trpc/client';
import type { AdminRouter } from '../../../server/operations/admin-router.ts';
import { readConfig } from '../../../server/platform/config/config.ts';
import { createLogger } from '../../../server/platform/telemetry/logging.ts';
import { startServer } from '../../../server/process/start.ts';
import { freePort } from '../../harness/free-port.ts';
import { createPartner, exchangeCode, verifyUser } from '../../harness/partner.ts';
import { temporaryFolder } from '../../harness/temporary-folder.ts';
import { startCounter } from '../upgrade/load.ts';
import { startDatabase, until } from '../upgrade/members.ts';

/**
 * Lists the service files that a code runs through: those with at least one function that V8 counts as called. It
 * measures an exchange alone, a webhook from its publication to its recorded attempt, then a returning user from `/verify/start` to
 * the delivered webhooks. Each way is gone three times, and sweeps are off.
 */

const token = 'svc_admin_0123456789012345678901234567890123456789012';
/** The time after which background work has ended, in milliseconds. */
const backgroundWaitMs = 1_500;
/** The time from an answer until its attempt is recorded, in milliseconds. */
const recordWaitMs = 300;

/** A file belongs to the first matching group, or else to the path of the code. */
const groups: readonly (readonly [name: string, files: RegExp])[] = [
  [
    'platform: ids, clock, group commit, limits',
    /^server\/platform\/(?!http|telemetry)|http\/limits\/client-network/,
  ],
  [
    'what every request runs: listener, logs, metrics',
    /^server\/(process\/(app|start)|platform|operations\/(metrics|requests)\/)/,
  ],
  [
    'texts and formats of a page',
    /pages\/(views|messages)\/(?!pages|responses|view-models)|sessions\/devices/,
  ],
  ['wiring, and records of the work', /^server\/(process\/wiring\/|billing\/(feature|wallets\/))/],
];
const ownWay = 'the way itself';
const groupOf = (file: string) => groups.find(([, files]) => files.test(file))?.[0] ?? ownWay;

const directory = temporaryFolder('path');
const database = await startDatabase(directory);
const receiver = await startCounter();

const config = readConfig({
  MONGODB_URI: database.uri,
  SVC_PORT: String(await freePort()),
  SVC_ADMIN_PORT: String(await freePort()),
  SVC_DATA_DIR: directory,
  SVC_MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
  SVC_ADMIN_TOKEN: token,
  SVC_LOG_LEVEL: 'silent',
});
const pace = { requestsEvery: 600_000 };
const server = await startServer(config, createLogger(config.logLevel), { sweepsByHand: true, pace });
const headers = { authorization: `Bearer ${token}` };
const url = `http://127.0.0.1:${config.admin.port}/trpc`;
const admin = createTRPCClient<AdminRouter>({ links: [httpLink({ url, headers })] });
const partner = await createPartner({ admin });
await admin.webhooks.set.mutate({ keyId: partner.keyId, url: receiver.url });

const session = new Session();
session.connect();
await session.post('Profiler.enable');
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });

/** Reads which files have functions that were called since the last read. */
async function readCalledFiles(): Promise<string[]> {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const called = result.filter(({ functions }) => functions.some(({ ranges }) => ranges[0]?.count));
  return called.flatMap((script) => /\/dist\/((?:server|contracts)\/.*)\.js$/.exec(script.url)?.[1] ?? []);
}

const measured: (readonly string[])[] = [];

function show(title: string, files: readonly string[]): void {
  measured.push(files);
  process.stdout.write(`\n${title}: ${files.length} files\n`);
  for (const name of [ownWay, ...groups.map(([group]) => group)]) {
    const own = files.filter((file) => groupOf(file) === name).sort();
    process.stdout.write(`\n${name}: ${own.length}\n${own.map((file) => `  ${file}.ts\n`).join('')}`);
  }
}

/** Publishes an event, and waits until its attempt is recorded. */
async function sendWebhook(n: number): Promise<void> {
  const { partnerId, keyId } = partner;
  const at = new Date();
  const fields = { enrollment_id: `enr_${n}`, user_id: 'user', created_at: at.toISOString() };
  const about = { enrollmentId: `enr_${n}` };
  const type = 'enrollment.created';
  const { webhooks } = server.services;
  await webhooks.publish([{ type, cause: [`path ${n}`], partnerId, mode: 'test', keyId, about, at, fields }]);
  await until('the webhook', () => receiver.count(type) > n);
  // The attempt is recorded after its answer.
  await sleep(recordWaitMs);
}

const pass = () => verifyUser({ baseUrl: config.baseUrl }, partner);
async function exchange(code: Awaited<ReturnType<typeof pass>>): Promise<void> {
  const { status } = await exchangeCode(config, partner, code);
  if (status !== 200) throw new Error(`exchange: ${status}`);
}

// The first verifications fill caches, and make the user a returning user.
for (let n = 0; n < 3; n += 1) await exchange(await pass());
/** Goes a way three times. Returns the files that ran each time: background work runs at some of the times by chance. */
async function filesOf(go: (n: number) => Promise<void>): Promise<string[]> {
  let files: string[] | undefined;
  for (let n = 0; n < 3; n += 1) {
    await readCalledFiles();
    await go(n);
    const called = new Set(await readCalledFiles());
    files = files?.filter((file) => called.has(file)) ?? [...called];
  }
  return files ?? [];
}

const codes = [await pass(), await pass(), await pass()] as const;
await sleep(backgroundWaitMs);
show('An exchange', await filesOf((n) => exchange(codes[n as 0 | 1 | 2])));

await sendWebhook(0);
show('A webhook', await filesOf((n) => sendWebhook(n + 1)));

show(
  'A whole way',
  await filesOf(async () => {
    const counts = () => ['verification.session.completed', 'vae.resolved'].map(receiver.count);
    const before = counts();
    await exchange(await pass());
    await until('the webhooks', () => counts().every((count, n) => count > (before[n] ?? 0)));
    await sleep(100);
  }),
);

/** The table of docs/architecture.md: the files of each group on each way. */
function writeTable(): void {
  const page = new URL('../../../../docs/architecture.md', import.meta.url);
  const rows = [ownWay, ...groups.map(([name]) => name)].map((group) => {
    const counts = measured.map((files) => files.filter((file) => groupOf(file) === group).length);
    return `| ${group} | ${counts.join(' | ')} |\n`;
  });
  const head = '| files that run | exchange | webhook | whole way |\n|---|--:|--:|--:|\n';
  const table = `<!-- paths -->\n${head}${rows.join('')}<!-- /paths -->`;
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, text.replace(/<!-- paths -->[\s\S]*<!-- \/paths -->/, table));
}
if (process.argv.includes('--write')) writeTable();

session.disconnect();
await server.stop();
await database.end();
receiver.close();
