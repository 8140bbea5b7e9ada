import type { Contender } from '../contenders/contender.ts';
import { startOurs } from '../contenders/ours.ts';
import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import type { Options } from '../options.ts';
import { median } from '../statistics.ts';

/** A line of the table: medians over all rounds. */
export interface HotRow {
  processes: number;
  /** Exchanges per second, and milliseconds. */
  rate: number;
  p50: number;
  p99: number;
  /** The least and the greatest number of answers of a process, each divided by an equal share. */
  shares: [least: number, greatest: number];
  /** Answers 503 in all rounds. */
  repeated: number;
}

interface Context extends Pick<Options, 'rounds' | 'seconds' | 'smoke'> {
  database: DatabaseServer;
  load: Load;
  progress: (text: string) => void;
}

type Round = Omit<HotRow, 'processes'>;

export const hotCallers = 64;
const processes = [1, 2, 4] as const;
/** Requests of the first round, which counts for nothing, and of a smoke run. */
const toWarmUp = 2000;
const inSmoke = 200;
const retryMs = 30;

async function measureRound(contender: Contender, load: Load, count: number): Promise<Round> {
  const { origins, tokenPath: path } = contender;
  const requests = await contender.prepareExchanges(count, 'one');
  const { seconds, granted, statuses, p50, p99 } = await load.run({
    ...{ origins, path, requests, retryMs },
    callers: hotCallers,
  });
  await contender.settle(count);
  const equal = count / origins.length;
  return {
    rate: count / seconds,
    p50,
    p99,
    shares: [Math.min(...granted) / equal, Math.max(...granted) / equal],
    repeated: statuses['503'] ?? 0,
  };
}

function rowOf(number: number, all: readonly Round[]): HotRow {
  const of = (value: (round: Round) => number) => median(all.map(value));
  return {
    processes: number,
    rate: of(({ rate }) => rate),
    p50: of(({ p50 }) => p50),
    p99: of(({ p99 }) => p99),
    shares: [of(({ shares }) => shares[0]), of(({ shares }) => shares[1])],
    repeated: all.reduce((sum, { repeated }) => sum + repeated, 0),
  };
}

/**
 * The same number of callers at one wallet, answered by one, two and four server processes on one database.
 * @throws where the ledger does not hold one charge for each answer
 */
export async function measureHotWallet(context: Context): Promise<HotRow[]> {
  const { database, load, rounds, seconds, smoke, progress } = context;
  const ours = await startOurs({ database, load, name: 'hot', processes, crowd: 0 });
  const measured = ours.contenders.map(() => [] as Round[]);
  const rates = new Map<Contender, number>();
  for (let round = smoke ? 1 : 0; round <= rounds; round += 1) {
    for (const [n, contender] of ours.contenders.entries()) {
      const aimed = Math.round((rates.get(contender) ?? 0) * seconds) || toWarmUp;
      const result = await measureRound(contender, load, smoke ? inSmoke : aimed);
      rates.set(contender, result.rate);
      const shares = result.shares.map((share) => share.toFixed(2)).join(' to ');
      progress(
        `${round === 0 ? 'warm-up' : `round ${round}`}  one wallet  ${contender.name}  ${Math.round(result.rate)}/s, shares ${shares}`,
      );
      if (round > 0) measured[n]?.push(result);
    }
  }
  await ours.stop();
  return measured.map((all, n) => rowOf(processes[n] ?? 0, all));
}
