import type { WalletState } from '../../../server/billing/ledger/wallet-rules.ts';
import { hour, minute, windowStart } from '../../../server/platform/http/limits/windows.ts';
import type { Deployment } from './database.ts';
import { type Conditions, type Fault, faults } from './network.ts';
import type { Random } from './random.ts';

/** The means with which an operator changes money or caps. */
export type CommandKind = 'fund' | 'adjust' | 'refund' | 'caps';

/** The parameters of one schedule. Times are in milliseconds. */
export interface Plan {
  start: number;
  /** The time in which new requests arrive. */
  span: number;
  deployment: Deployment;
  processes: number;
  wallets: number;
  /** The number of codes of each wallet. */
  codes: number;
  /** The most sequential requests of the client of a code. */
  tries: number;
  /** The share of requests whose client disconnects. */
  disconnects: number;
  /** The longest pause between two requests of a client. */
  pause: number;
  /** The number of operators' commands. */
  commands: number;
  /** The kinds from which each command is drawn. */
  commandKinds: readonly [CommandKind, ...CommandKind[]];
  conditions: Conditions;
  /** The largest error of a process's clock, and how often a clock is set during the schedule. */
  skew: number;
  clockSteps: number;
  caps: WalletState['caps'];
  /** The cents in each wallet at the start. */
  funds: number;
  /** The number of failovers of the database. */
  failovers: number;
  /** The duration of each outage. */
  outage: number;
  /** The number of times when the database confirms nothing for a while. */
  stalls: number;
  confirmation: number;
  electionLag: number;
  /** The number of pauses of a process. */
  processPauses: number;
  /** The share of processes that hand postings over. The others are of an older build. */
  handOvers: number;
  /** The number of processes that share one writer. */
  processesPerWriter: number;
  /** The share of messages between processes that are lost, late or doubled. */
  messageFaults: number;
  /** The times at which a process updates its list of processes. */
  refreshes: number;
  sweeps: number;
}

const day = Date.UTC(2026, 10, 21);
const roomy = { perMinute: 5_000, perHour: 50_000 };

/** Returns a time some milliseconds before a minute or an hour ends. */
function nearBoundary(random: Random, before: number): number {
  const length = random.chance(0.5) ? hour : minute;
  return windowStart(day + random.int(1, 1_000) * minute, length) + length - random.int(0, before);
}

/** Draws a plan with a mixture of all faults. */
function drawMixed(random: Random): Plan {
  return {
    start: nearBoundary(random, 5_000),
    span: random.pick([500, 2_000, 6_000]),
    deployment: random.pick(['replica set', 'single server']),
    processes: random.int(1, 4),
    wallets: random.int(1, 2),
    codes: random.int(1, 8),
    tries: random.int(1, 4),
    disconnects: 0.05,
    pause: random.pick([200, 2_000]),
    commands: random.int(0, 4),
    commandKinds: ['fund', 'fund', 'adjust', 'adjust', 'refund', 'caps'],
    conditions: {
      latency: random.pick([1, 5, 50]),
      faults: random.pick([0, 0.03, 0.1, 0.3]),
      lateness: random.pick([500, 4_000, 20_000]),
      mostly: random.chance(0.5) ? random.pick<Fault>(faults) : undefined,
      crashRate: random.pick([0, 0, 0.01, 0.03]),
    },
    skew: random.pick([0, 5, 500, 2_000]),
    clockSteps: random.int(0, 2),
    caps: random.chance(0.3) ? { perMinute: random.int(1, 6), perHour: random.int(2, 9) } : roomy,
    funds: random.pick([0, 100, 300, 1_000]),
    failovers: random.pick([0, 0, 1]),
    outage: random.pick([10, 500, 2_500]),
    stalls: random.pick([0, 0, 1]),
    confirmation: random.pick([0.5, 5, 50]),
    electionLag: random.pick([0, 0, 20]),
    processPauses: random.pick([0, 0, 1]),
    handOvers: random.pick([0, 0.7, 1, 1, 1]),
    messageFaults: random.pick([0, 0.03, 0.2, 0.5]),
    refreshes: random.int(0, 12),
    sweeps: random.int(0, 2),
    processesPerWriter: random.pick([1, 4]),
  };
}

const calls = ['insert', 'head', 'page', 'existing', 'mark', 'publish', 'entry'] as const;

/**
 * A head that a process has read or written is outdated when the reply arrives, because others have funded the empty
 * wallet.
 */
export const slowReplies: Partial<Plan> = {
  span: 4_000,
  processes: 5,
  wallets: 2,
  codes: 20,
  tries: 10,
  pause: 300,
  commands: 12,
  commandKinds: ['fund', 'caps'],
  conditions: { latency: 5, faults: 0.4, mostly: 'slow reply', lateness: 500, crashRate: 0 },
  skew: 5,
  clockSteps: 0,
  caps: roomy,
  funds: 100,
  failovers: 0,
  stalls: 0,
  confirmation: 5,
  electionLag: 0,
  processPauses: 0,
  handOvers: 0,
};

type Trouble = (plan: Plan, random: Random) => Partial<Plan>;

/** Each plan concentrates on one kind of trouble. */
const troubles = {
  // Many codes, clocks that disagree, and a window that ends among them.
  windows: (_, random) => ({
    start: nearBoundary(random, 1_000),
    codes: random.int(5, 9),
    skew: random.pick([500, 3_000]),
    clockSteps: random.int(0, 4),
    caps: { perMinute: random.int(1, 5), perHour: random.pick([3, 7, 1_000]) },
    funds: 10_000,
  }),
  // More codes than money, and operators who move some money.
  money: (_, random) => ({
    codes: random.int(4, 9),
    commands: random.int(3, 7),
    caps: roomy,
    funds: random.int(0, 6) * 50,
  }),
  contention: ({ conditions }, random) => ({
    span: random.pick([20, 200]),
    processes: random.int(3, 4),
    wallets: 1,
    codes: random.int(8, 14),
    conditions: { ...conditions, latency: random.pick([1, 5]) },
  }),
  outages: ({ conditions }, random) => ({
    span: random.pick([1_000, 4_000]),
    codes: random.int(4, 9),
    funds: random.pick([100, 10_000]),
    conditions: { ...conditions, crashRate: random.pick([0, 0.02]) },
    confirmation: random.pick([5, 50]),
    failovers: random.int(1, 3),
    stalls: random.int(0, 2),
  }),
  crashes: ({ conditions }, random) => ({
    conditions: { ...conditions, crashRate: 0.01, crashAt: random.pick<string>(calls) },
    sweeps: random.int(1, 4),
  }),
  // Messages between processes are lost, late and doubled, processes pause, and money is short.
  'hand-overs': ({ conditions }, random) => ({
    span: random.pick([200, 2_000]),
    processes: random.int(2, 4),
    wallets: random.int(1, 3),
    codes: random.int(4, 9),
    commands: random.int(0, 5),
    conditions: { ...conditions, latency: random.pick([1, 5]), faults: random.pick([0, 0.03]) },
    funds: random.int(0, 8) * 50,
    processPauses: random.int(0, 3),
    handOvers: 1,
    messageFaults: random.pick([0.1, 0.3, 0.6]),
    refreshes: random.int(4, 30),
  }),
  'slow replies': () => slowReplies,
} satisfies Record<string, Trouble>;
const nothing: Trouble = () => ({});

/** Draws a plan: a mixture, or one with a single kind of trouble. */
export function drawPlan(random: Random): Plan {
  const plan = drawMixed(random);
  const trouble = random.pick<Trouble>([nothing, nothing, ...Object.values(troubles)]);
  return { ...plan, ...trouble(plan, random) };
}
