import { randomBytes } from 'node:crypto';
import type { DatabaseServer } from '../../database.ts';
import { cpuSecondsOfTree, pause } from '../../processes.ts';
import { type Remote, startProgram } from '../../remote.ts';
import { median, percentile } from '../../statistics.ts';
import { names } from '../../subject-names.ts';
import type { Order, QueueSettings } from './program.ts';
import { type Receivers, startReceivers } from './receivers.ts';
import { startPostgres, startRedis } from './servers.ts';

/** Deliveries per second; milliseconds from due to arrived; microseconds of processor time per delivery. */
export interface QueueResult {
  rate: number;
  p50: number;
  p99: number;
  sender: number;
  database: number;
  /** POSTs that repeat an event. */
  duplicates: number;
}

export interface QueueRow {
  title: string;
  results: ReadonlyMap<string, QueueResult>;
}

export interface QueueFigures {
  rows: QueueRow[];
  /** The queues that could not be measured, and why. */
  absent: string[];
}

interface Contender {
  name: string;
  /** The processes that send. The first one stores the events too. */
  programs: [Remote, ...Remote[]];
  databasePid: number | undefined;
  stop: () => Promise<void>;
}

interface Context {
  database: DatabaseServer;
  rounds: number;
  smoke: boolean;
  progress: (text: string) => void;
}

const endpointsOfKind = 100;
/** The time in which idle work is measured, in milliseconds: longer than between two sweeps of ours. */
const idleMs = 20_000;
/** The pause after the last arrival, in milliseconds, in which it is recorded. */
const restMs = 500;
/** The longest wait for events that are under way, in milliseconds. */
const longestWaitMs = 60_000;

interface Case {
  title: string;
  order: Order;
}

/** The orders of a round. Each queue carries out each of them, one queue after another. */
function cases(smoke: boolean, endpoints: number): { bursts: Case[]; others: Case[] } {
  const half = endpoints / 2;
  const http = Array.from({ length: half }, (_, n) => n);
  const https = http.map((n) => half + n);
  const many = smoke ? 40 : 2_000;
  const bursts = [
    { title: `${many} due at once`, order: { endpoints: http, events: many, ahead: smoke ? 1_000 : 6_000 } },
    { title: '64 callers', order: { endpoints: http, events: many, callers: 64 } },
  ];
  const others = [
    { title: '50 a second', order: { endpoints: http, events: smoke ? 20 : 200, perSecond: 50 } },
    { title: '64 callers, https', order: { endpoints: https, events: many, callers: 64 } },
    { title: '50 a second, https', order: { endpoints: https, events: smoke ? 20 : 200, perSecond: 50 } },
  ];
  return { bursts, others };
}

interface Cpu {
  sender: number;
  database: number;
}

/** Processor time of a queue's processes and its database in seconds, without that of the bench's own queries. */
const cpuOf = ({ programs, databasePid }: Contender): Cpu => ({
  sender: programs.reduce((sum, { pid }) => sum + cpuSecondsOfTree(pid), 0),
  database: databasePid === undefined ? Number.NaN : cpuSecondsOfTree(databasePid),
});

/** What the queues cost a second while all of them have nothing to do: seconds of processor time, in their order. */
async function idleCpu(contenders: readonly Contender[], ms: number): Promise<Cpu[]> {
  const before = contenders.map(cpuOf);
  await pause(ms);
  return contenders.map((contender, n) => {
    const { sender, database } = cpuOf(contender);
    const { sender: senderBefore = 0, database: databaseBefore = 0 } = before[n] ?? {};
    return {
      sender: ((sender - senderBefore) / ms) * 1000,
      database: ((database - databaseBefore) / ms) * 1000,
    };
  });
}

/** Carries an order out, and waits until all its events have arrived. @throws if some do not */
async function measure(
  contender: Contender,
  { receivers, idle }: { receivers: Receivers; idle: Cpu },
  order: Order,
): Promise<QueueResult> {
  await receivers.take();
  const isAhead = order.ahead !== undefined;
  const early = cpuOf(contender);
  const earlyAt = Date.now();
  const begin = await contender.programs[0].call<number>('send', order);
  // What is stored ahead is not part of the measurement.
  const before = isAhead ? cpuOf(contender) : early;
  const beforeAt = isAhead ? Date.now() : earlyAt;
  const deadline = Date.now() + longestWaitMs;
  while ((await receivers.count()) < order.events && Date.now() < deadline) await pause(20);
  await pause(restMs);
  const after = cpuOf(contender);
  const seconds = (Date.now() - beforeAt) / 1000;
  const { events, duplicates, lateness, lastAt } = await receivers.take();
  if (events < order.events)
    throw new Error(`${contender.name}: ${events} of ${order.events} events arrived`);
  const sorted = Float64Array.from(lateness).sort();
  const perEvent = (part: keyof Cpu) => ((after[part] - before[part] - idle[part] * seconds) / events) * 1e6;
  return {
    rate: events / ((lastAt - begin) / 1000),
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    sender: perEvent('sender'),
    database: perEvent('database'),
    duplicates,
  };
}

function medianOf(results: readonly QueueResult[]): QueueResult {
  const of = (field: keyof QueueResult) => median(results.map((result) => result[field]));
  return {
    ...{ rate: of('rate'), p50: of('p50'), p99: of('p99'), sender: of('sender'), database: of('database') },
    duplicates: results.reduce((sum, { duplicates }) => sum + duplicates, 0),
  };
}

/**
 * Starts ours and the queues of others, each with its database and so many processes. A queue whose database is not installed is
 * named.
 */
async function startContenders(
  database: DatabaseServer,
  { origins }: Receivers,
  { endpoints, processes }: { endpoints: number; processes: number },
) {
  const mongo = { pid: database.pid, stop: async () => undefined };
  const all = [
    { name: names.ours, file: 'ours', server: { ...mongo, uri: database.uri(`queue-${processes}`) } },
    { name: names.bullmq, file: 'bullmq', server: await startRedis(), needs: 'redis-server' },
    { name: names.graphile, file: 'graphile-worker', server: await startPostgres(), needs: 'postgres' },
    { name: names.agenda, file: 'agenda', server: { ...mongo, uri: database.uri(`agenda-${processes}`) } },
  ];
  const contenders: Contender[] = [];
  const absent: string[] = [];
  for (const { name, file, server, needs } of all) {
    if (!server) {
      absent.push(`${name}: the program \`${needs}\` is not installed`);
      continue;
    }
    const secrets = {
      masterKey: randomBytes(32).toString('base64'),
      adminToken: `svc_admin_${randomBytes(24).toString('hex')}`,
    };
    const { uri } = server;
    async function start(isFirst: boolean): Promise<Remote> {
      const program = startProgram(`./webhooks/queues/${file}.ts`);
      await program.call('start', { uri, origins, endpoints, secrets, isFirst } satisfies QueueSettings);
      return program;
    }
    const programs: Contender['programs'] = [await start(true)];
    while (programs.length < processes) programs.push(await start(false));
    const stop = async () => {
      await Promise.all(programs.map((program) => program.stop()));
      await server.stop();
    };
    contenders.push({ name, programs, databasePid: server.pid, stop });
  }
  return { contenders, absent };
}

/** Sends the same events through ours and through the queues of others, to the same endpoints: from one process, then from more. */
export async function measureQueues(context: Context): Promise<QueueFigures> {
  const alone = await measureProcesses(context, 1);
  const together = await measureProcesses(context, context.smoke ? 2 : 4);
  return { rows: [...alone.rows, ...together.rows], absent: alone.absent };
}

/** Measures all queues with so many processes each, in interleaved rounds: several processes with bursts only. */
async function measureProcesses(
  { database, rounds, smoke, progress }: Context,
  processes: number,
): Promise<QueueFigures> {
  const endpoints = smoke ? 10 : 2 * endpointsOfKind;
  const receivers = await startReceivers();
  const { contenders, absent } = await startContenders(database, receivers, { endpoints, processes });
  for (const text of absent) progress(`queues  not measured: ${text}`);
  const idle = await idleCpu(contenders, smoke ? 500 : idleMs);
  const rows: QueueRow[] = [];
  const { bursts, others } = cases(smoke, endpoints);
  const measured =
    processes === 1
      ? [...bursts, ...others]
      : bursts.map((each) => ({ ...each, title: `${each.title}, ${processes} processes` }));
  for (const { title, order } of measured) {
    const results = new Map<string, QueueResult[]>();
    // The first round is a warm-up, unless the run is only a check.
    for (let round = smoke ? 1 : 0; round <= rounds; round += 1) {
      for (const [n, contender] of contenders.entries()) {
        const ofIdle = idle[n] ?? { sender: 0, database: 0 };
        const result = await measure(contender, { receivers, idle: ofIdle }, order);
        const { name } = contender;
        if (round > 0) results.set(name, [...(results.get(name) ?? []), result]);
        progress(`queues  ${title}  ${name}  ${Math.round(result.rate)}/s`);
      }
    }
    rows.push({ title, results: new Map([...results].map(([name, each]) => [name, medianOf(each)])) });
  }
  for (const { stop } of contenders) await stop();
  await receivers.stop();
  return { rows, absent };
}
