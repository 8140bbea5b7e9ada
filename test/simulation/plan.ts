import type { WalletState } from '../../server/billing/wallet-model.ts';
import { hour, minute, windowStart } from '../../server/platform/windows.ts';
import type { Weather } from './network.ts';
import type { Random } from './random.ts';

/** What one schedule is made of; times in milliseconds. */
export interface Plan {
  start: number;
  /** How long the faults go on. */
  span: number;
  processes: number;
  wallets: number;
  /** Codes of each wallet. */
  codes: number;
  /** Share of the span in which their clients arrive. */
  arrivals: number;
  /** How often the client of a code tries. */
  tries: number;
  /** Longest pause between two tries. */
  pause: number;
  /** Movements of money by operators. */
  operations: number;
  weather: Weather;
  /** Largest difference of a process's clock. */
  skew: number;
  caps: WalletState['caps'];
  /** Cents that a wallet is opened with. */
  funds: number;
  freezes: number;
  sweeps: number;
  /** How long the facts of a purchase may take that are read beside its history. */
  thinking: number;
  /** Neighbours that settle about a hundred movements each. */
  crowds: number;
  /** Charges of a process that died before it could grant anything. */
  dead: number;
  /** No process runs for longer than records are kept. */
  sleepsLong: boolean;
}

const day = Date.UTC(2026, 10, 21);
const roomy = { perMinute: 5_000, perHour: 50_000 };

/** Some seconds before a minute or an hour ends. */
function nearBoundary(random: Random): number {
  const length = random.chance(0.5) ? hour : minute;
  return windowStart(day + random.int(1, 1_000) * minute, length) + length - random.int(0, 15_000);
}

/** Everything at once, in moderation. */
function mixed(random: Random): Plan {
  return {
    start: nearBoundary(random),
    span: random.pick([5_000, 20_000, 45_000]),
    processes: random.int(2, 4),
    wallets: random.int(1, 2),
    codes: random.int(1, 5),
    arrivals: 0.7,
    tries: random.int(1, 5),
    pause: random.pick([500, 3_000, 15_000]),
    operations: random.int(0, 6),
    weather: {
      latency: random.pick([2, 30, 300]),
      faults: random.pick([0, 0.05, 0.15, 0.35]),
      lateness: random.pick([2_000, 20_000, 40_000]),
      crashRate: random.pick([0, 0.01, 0.03]),
      fatality: 0,
    },
    skew: random.pick([0, 500, 2_000]),
    caps: random.chance(0.3) ? { perMinute: random.int(1, 4), perHour: random.int(2, 8) } : roomy,
    funds: random.pick([100, 1_000, 5_000]),
    freezes: random.int(0, 3),
    sweeps: random.int(0, 12),
    crowds: 0,
    thinking: random.pick([0, 0, 1_000]),
    dead: 0,
    sleepsLong: random.chance(0.15),
  };
}

const flavours = ['mixed', 'mixed', 'boundary', 'restless', 'restless', 'crowd'] as const;

/** What a process is about to do when it dies, as the trace names it. */
const steps = [
  'insert accesses [txn',
  'insert accesses [txn',
  'insert accesses [void',
  'append',
  'publish',
  'read entry',
  'update',
] as const;

/** Draws a plan: a mixture, or one that leans on a single weakness. */
export function drawPlan(random: Random): Plan {
  const plan = mixed(random);
  switch (random.pick(flavours)) {
    case 'mixed':
      return plan;
    case 'boundary':
      // Many buyers, clocks that disagree, and a window that turns among them.
      return {
        ...plan,
        span: 20_000,
        codes: random.int(5, 8),
        skew: random.pick([1_000, 3_000, 8_000]),
        caps: { perMinute: random.int(1, 4), perHour: random.pick([3, 6, 1_000]) },
        funds: 5_000,
        weather: { ...plan.weather, crashRate: 0 },
      };
    case 'restless':
      // Processes that die between two steps, others that clear up after them, operators in between.
      return {
        ...plan,
        span: 90_000,
        wallets: 1,
        codes: random.int(2, 4),
        arrivals: 0.2,
        tries: random.int(4, 14),
        pause: 20_000,
        operations: random.int(3, 6),
        caps: roomy,
        funds: 1_000,
        weather: {
          ...plan.weather,
          crashRate: 0.03,
          fatalStep: random.pick(steps),
          fatality: random.pick([0.7, 1, 1]),
        },
        sweeps: random.int(10, 20),
      };
    case 'crowd':
      // So much is settled at once that the ring forgets, while processes stall and messages are late.
      return {
        ...plan,
        span: 2_500,
        processes: random.int(2, 3),
        wallets: 1,
        codes: random.int(4, 7),
        operations: random.int(6, 9),
        weather: {
          latency: random.pick([2, 30]),
          faults: random.pick([0.05, 0.2]),
          lateness: 4_000,
          crashRate: random.pick([0, 0.01]),
          fatality: 0,
          ...random.pick<Pick<Weather, 'mostly' | 'mostlyTo'>>([
            { mostly: 'arrives late', mostlyTo: 'update' },
            { mostly: 'arrives twice', mostlyTo: 'update' },
            { mostly: 'slow reply', mostlyTo: 'read' },
          ]),
        },
        caps: roomy,
        funds: 1_000,
        freezes: random.int(1, 3),
        crowds: random.int(2, 4),
        thinking: random.pick([0, 3_000, 3_000]),
        dead: random.chance(0.07) ? random.int(220, 250) : 0,
      };
  }
}
