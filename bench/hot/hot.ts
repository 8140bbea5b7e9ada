import { setTimeout } from 'node:timers/promises';
import { type Contender, manyPartners, type PartnerSet } from '../contenders/contender.ts';
import { startOurs } from '../contenders/ours.ts';
import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import type { Options } from '../options.ts';
import { cpuSeconds } from '../processes.ts';
import { median } from '../statistics.ts';

/** The wallets that are charged. */
type Wallets = Extract<PartnerSet, 'one' | 'many'>;

/** A line of the table: medians over all rounds. */
export interface HotRow {
  wallets: Wallets;
  processes: number;
  /** Exchanges per second, and milliseconds. */
  rate: number;
  p50: number;
  p99: number;
  /** Microseconds of processor time per exchange, of all server processes and of the database. */
  serverCpu: number;
  databaseCpu: number;
  /** The smallest and the largest number of answers of a process, each divided by an equal share. */
  shares: [least: number, greatest: number];
  /** Answers 503 in all rounds. */
  repeated: number;
}

interface Context extends Pick<Options, 'rounds' | 'seconds' | 'smoke'> {
  database: DatabaseServer;
  load: Load;
  progress: (text: string) => void;
}

type Round = Omit<HotRow, 'wallets' | 'processes'>;

/** A number of server processes on a separate database, and the exchanges of their rounds. */
interface Subject {
  processes: number;
  contender: Contender;
  /** Exchanges per second of the last round. */
  rates: Partial<Record<Wallets, number>>;
  measured: Record<Wallets, Round[]>;
}

export const hotCallers = 64;
const processes = [1, 2, 4, 8] as const;
const wallets: readonly Wallets[] = ['one', 'many'];
/**
 * Requests per process in the first round, which do not count, and the smallest number in another. A process answers
 * about 5,000 requests until V8 has compiled its code. With fewer, many cold processes would be compared with a warm
 * one.
 */
const toWarmUp = 2500;
const fewest = 1000;
const inSmoke = { requests: 200, processes: [1, 2], partners: 4 } as const;
const retryMs = 30;
/** Milliseconds after which resumed processes know each other again, and have done overdue work. */
const settleMs = 6_000;

async function measureRound(
  { contender }: Subject,
  { database, load }: Pick<Context, 'database' | 'load'>,
  { partnerSet, count }: { partnerSet: Wallets; count: number },
): Promise<Round> {
  const { origins, pids, tokenPath: path } = contender;
  const databasePids = database.pid === undefined ? [] : [database.pid];
  const requests = await contender.prepareExchanges(count, partnerSet);
  const before = { server: cpuSeconds(pids), database: cpuSeconds(databasePids) };
  const { seconds, granted, statuses, p50, p99 } = await load.run({
    ...{ origins, path, requests, retryMs },
    callers: hotCallers,
    // A 503 may hide a charge, which the repeated request then names.
    lost: 'already used',
  });
  const perExchange = (cpu: number) => (cpu / count) * 1e6;
  const serverCpu = perExchange(cpuSeconds(pids) - before.server);
  const databaseCpu = perExchange(cpuSeconds(databasePids) - before.database);
  await contender.settle(count);
  const equal = count / origins.length;
  return {
    ...{ rate: count / seconds, p50, p99, serverCpu, databaseCpu },
    shares: [Math.min(...granted) / equal, Math.max(...granted) / equal],
    repeated: statuses['503'] ?? 0,
  };
}

function rowOf(of: Pick<HotRow, 'wallets' | 'processes'>, all: readonly Round[]): HotRow {
  const medianOf = (value: (round: Round) => number) => median(all.map(value));
  return {
    ...of,
    rate: medianOf(({ rate }) => rate),
    p50: medianOf(({ p50 }) => p50),
    p99: medianOf(({ p99 }) => p99),
    serverCpu: medianOf(({ serverCpu }) => serverCpu),
    databaseCpu: medianOf(({ databaseCpu }) => databaseCpu),
    shares: [medianOf(({ shares }) => shares[0]), medianOf(({ shares }) => shares[1])],
    repeated: all.reduce((sum, { repeated }) => sum + repeated, 0),
  };
}

interface Started extends Subject {
  stop(): Promise<void>;
}

function signal({ contender }: Subject, name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of contender.pids) process.kill(pid, name);
}

/**
 * Idle processes would also write for wallets, so each number of processes has a separate database. They are stopped
 * while others are measured, because idle processes use processor time.
 */
async function startSubjects({ database, load, smoke }: Context): Promise<Started[]> {
  const partnerCount = smoke ? inSmoke.partners : manyPartners;
  const subjects: Started[] = [];
  for (const number of smoke ? inSmoke.processes : processes) {
    const ours = await startOurs({ database, load, name: `hot${number}`, processes: [number], partnerCount });
    const [contender] = ours.contenders;
    if (!contender) throw new Error('no servers');
    const measured = { one: [], many: [] };
    subjects.push({ processes: number, contender, rates: {}, measured, stop: () => ours.stop() });
  }
  return subjects;
}

/**
 * The same number of callers at one wallet, and at 200, with one, two, four and eight server processes.
 * @throws if the ledger does not have one charge for each answer
 */
export async function measureHotWallet(context: Context): Promise<HotRow[]> {
  const { rounds, seconds, smoke, progress } = context;
  const subjects = await startSubjects(context);
  for (const subject of subjects) signal(subject, 'SIGSTOP');
  for (let round = smoke ? 1 : 0; round <= rounds; round += 1) {
    for (const partnerSet of wallets) {
      for (const subject of subjects) {
        const rate = subject.rates[partnerSet];
        const aimed = rate === undefined ? toWarmUp * subject.processes : Math.round(rate * seconds);
        const count = smoke ? inSmoke.requests : Math.max(fewest, aimed);
        signal(subject, 'SIGCONT');
        if (!smoke) await setTimeout(settleMs);
        const result = await measureRound(subject, context, { partnerSet, count });
        signal(subject, 'SIGSTOP');
        subject.rates[partnerSet] = result.rate;
        const shares = result.shares.map((share) => share.toFixed(2)).join(' to ');
        const micros = Math.round(result.serverCpu + result.databaseCpu);
        progress(
          `${round === 0 ? 'warm-up' : `round ${round}`}  ${partnerSet} of the wallets  ${subject.processes} processes  ${Math.round(result.rate)}/s, ${micros} µs, shares ${shares}`,
        );
        if (round > 0) subject.measured[partnerSet].push(result);
      }
    }
  }
  for (const subject of subjects) signal(subject, 'SIGCONT');
  await Promise.all(subjects.map((subject) => subject.stop()));
  return wallets.flatMap((partnerSet) =>
    subjects.map(({ processes: number, measured }) =>
      rowOf({ wallets: partnerSet, processes: number }, measured[partnerSet]),
    ),
  );
}
