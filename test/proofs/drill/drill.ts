import { setTimeout as sleep } from 'node:timers/promises';
import { MongoClient } from 'mongodb';
import { failCommandsOfEndedConnections } from '../../../server/platform/database/ended-connections.ts';
import { within } from '../../harness/time-limits.ts';
import { startReceiver } from '../faults/receiver.ts';
import { retry } from '../faults/retry.ts';
import type { Bound } from '../faults/scenario.ts';
import type { Random } from '../simulation/random.ts';
import type { Cluster, Held } from './cluster.ts';
import { createReadWriteLock } from './facade/lock.ts';
import { type Environment, type Figures, type Lane, openFlowLane, openMoneyLane } from './lanes.ts';
import { startServers } from './servers.ts';

failCommandsOfEndedConnections();

/** A fault, and the election in which it occurred. */
export interface Fault extends Held {
  election: number;
  words: string;
  /**
   * The kind of the fault. `wrong`: something is lost, doubled or answered wrongly. `not checked`: a client or a check has
   * given up. `late`: no answer came for 15 s, which a busy machine can cause too.
   */
  means: 'wrong' | 'not checked' | 'late';
}

export interface Report {
  elections: number;
  kinds: Record<string, number>;
  /** The number of rolled-back writes; undefined if it cannot be known. */
  rolledBack: number | undefined;
  /** The number of elections with committed writes whose acknowledgement was lost. */
  silentElections: number;
  figures: Figures;
  faults: Fault[];
  /** The folder with the servers' warnings, if there is a fault. */
  logs?: string;
}

interface Settings {
  cluster: Cluster;
  random: Random;
  /** The least number of elections. Further ones follow, at most as many again, while too few writes were rolled back. */
  elections: number;
  /** The number of processes of the product. */
  servers: number;
  /** The compiled `server/main.js`. */
  program: string;
  /** Whether the drill ends at the first fault, which a mutant is expected to cause. No logs are kept then. */
  untilFault?: boolean;
  /** Ends the drill after the running election. */
  signal?: AbortSignal;
  /** Called after each election. */
  progress?: (election: number, held: Held) => void;
}

/** What limits the exchanges of an election. It changes from one election to the next. */
const bounds: readonly [Bound, Bound][] = [
  ['none', 'balance'],
  ['cap', 'none'],
  ['balance', 'cap'],
];
/** The least number of writes that so many elections must roll back. With fewer, a drill proves nothing. */
export const leastRolledBack = (elections: number): number => Math.floor(elections * 2.5);

/** The latest start of an election, in milliseconds after the clients' start. */
const latest = 450;
/** The time in which sweeps must publish everything, in milliseconds. Sweeps run every 15 s, and elections make some fail. */
const longestSettlingMs = within(150_000);
const pollEveryMs = 2_000;

/**
 * Holds elections one after another at random moments, with servers under load. Each election has separate partners, so that
 * a fault identifies its election.
 */
export async function runDrill(settings: Settings): Promise<Report> {
  const {
    cluster,
    random,
    elections,
    program,
    servers: count,
    untilFault = false,
    signal,
    progress,
  } = settings;
  const receiver = await startReceiver();
  const servers = await startServers({ program, mongodbUri: cluster.uri, count });
  const client = await new MongoClient(cluster.uri, {
    promoteLongs: true,
    readConcern: { level: 'majority' },
    writeConcern: { w: 'majority', journal: true },
  }).connect();
  const environment: Environment = { ...servers, db: client.db(), receiver };
  // The checks read while no election is under way: a deposed primary would show them an older state.
  const calm = createReadWriteLock();
  const held: Held[] = [];
  const faults: Fault[] = [];
  const figures: Figures = {
    ...{ clients: 0, tokens: 0, charges: 0, lostAnswers: 0 },
    ...{ flows: 0, events: 0, repeatedPosts: 0 },
  };
  const settling: Promise<void>[] = [];
  /** On a busy machine, an election rolls back fewer writes. */
  const isLongEnough = () => {
    const rolledBack = held.reduce((sum, each) => sum + (each.rolledBack ?? Infinity), 0);
    return held.length >= elections && rolledBack >= leastRolledBack(elections);
  };
  const mayStop = () => untilFault && faults.some(({ means }) => means === 'wrong');

  function blame(election: number, words: readonly string[], means: Fault['means'] = 'wrong'): void {
    const known = held[election - 1] ?? { kind: 'none' };
    for (const each of words) {
      const isLate = each.startsWith('no answer');
      faults.push({ ...known, election, words: each, means: isLate ? 'late' : means });
    }
  }
  const gaveUp = (election: number) => (error: unknown) =>
    blame(election, [error instanceof Error ? error.message : String(error)], 'not checked');

  const openLanes = ([one, other]: readonly [Bound, Bound]): Promise<Lane[]> =>
    retry(() =>
      Promise.all([
        openMoneyLane(environment, one),
        openMoneyLane(environment, other),
        openFlowLane(environment),
      ]),
    );

  /** Waits until all effects of the answers are stored, and checks them. */
  async function settle(election: number, lane: Lane): Promise<void> {
    const isSettled = () => calm.read(() => retry(lane.isSettled));
    const until = performance.now() + longestSettlingMs;
    while (!mayStop() && performance.now() < until && !(await isSettled())) await sleep(pollEveryMs);
    if (mayStop()) return;
    const { faults: found, figures: own } = await calm.read(() => retry(lane.checkSettled));
    blame(election, found);
    for (const [name, count] of Object.entries(own)) figures[name as keyof Figures] += count;
  }

  async function drillOne(election: number, lanes: readonly Lane[]): Promise<void> {
    // A lane is not checked if one of its clients has given up, because the expected result is unknown.
    const gaveUpIn = new Map<Lane, unknown>();
    const work = Promise.all(
      lanes.map((lane) => lane.run().catch((error: unknown) => gaveUpIn.set(lane, error))),
    );
    await sleep(random.int(0, latest));
    const one = await calm.write(() => cluster.elect());
    held.push(one);
    progress?.(election, one);
    await work;
    for (const error of gaveUpIn.values()) gaveUp(election)(error);
    const checked = lanes.filter((lane) => !gaveUpIn.has(lane));
    const now = await calm.read(() => Promise.all(checked.map((lane) => retry(lane.checkNow))));
    blame(election, now.flat());
    settling.push(...checked.map((lane) => settle(election, lane).catch(gaveUp(election))));
  }

  try {
    for (let election = 1; election <= 2 * elections && !isLongEnough(); election += 1) {
      if (mayStop() || signal?.aborted) break;
      const lanes = await openLanes(bounds[election % bounds.length] ?? ['none', 'none']);
      await drillOne(election, lanes).catch(gaveUp(election));
      if (servers.deaths().length > 0) break;
    }
    await Promise.all(settling);
    blame(held.length, servers.deaths());
  } finally {
    await client.close();
    await servers.close(faults.length > 0 && !untilFault);
    await receiver.close();
  }
  const rolledBack = held.map((each) => each.rolledBack);
  return {
    elections: held.length,
    kinds: Object.fromEntries(
      [...new Set(held.map(({ kind }) => kind))].map((kind) => [
        kind,
        held.filter((each) => each.kind === kind).length,
      ]),
    ),
    rolledBack: rolledBack.some((each) => each === undefined)
      ? undefined
      : rolledBack.reduce<number>((sum, each) => sum + (each ?? 0), 0),
    silentElections: held.filter((each) => each.hasSilentCommits === true).length,
    figures,
    faults,
    ...(faults.length > 0 && !untilFault ? { logs: servers.dataDir } : {}),
  };
}
