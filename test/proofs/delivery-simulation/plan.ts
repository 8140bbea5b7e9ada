import { type Conditions, type Fault, faults } from '../simulation/network.ts';
import type { Random } from '../simulation/random.ts';

/** The parameters of one schedule. Times are in milliseconds. */
export interface Plan {
  /** Whether nothing fails, so that no attempt may be late or made twice. */
  isCalm: boolean;
  /** The time in which events are published and faults occur. */
  span: number;
  /** The processes that send, and those that only store. */
  workers: number;
  others: number;
  endpoints: number;
  events: number;
  /** The most events of one publication. */
  together: number;
  /** The share of requests that an endpoint accepts, answers with 500, and leaves without an answer. The rest is reset. */
  accepts: number;
  fails: number;
  hangs: number;
  /** The numbers of rotations of a secret, pauses of an endpoint, pauses of a process, and losses of all jobs. */
  rotations: number;
  pauses: number;
  freezes: number;
  jobLosses: number;
  /** The number of elections of another database member, and the longest time until a write is confirmed. */
  elections: number;
  confirmation: number;
  /** The largest error of a process's clock. */
  skew: number;
  conditions: Conditions;
  leaseTime: number;
}

const still: Conditions = { latency: 5, faults: 0, lateness: 500, crashRate: 0 };

/** Nothing fails but receivers. */
const drawCalm = (random: Random): Plan => ({
  isCalm: true,
  span: 4_000,
  workers: random.int(1, 3),
  others: random.int(0, 1),
  endpoints: random.int(1, 3),
  events: random.int(1, 40),
  together: random.pick([1, 12]),
  accepts: random.pick([1, 0.6]),
  fails: 1,
  hangs: 0,
  rotations: 0,
  pauses: 0,
  freezes: 0,
  jobLosses: 0,
  elections: 0,
  confirmation: 0,
  skew: random.pick([0, 20]),
  conditions: { ...still, latency: random.pick([1, 5]) },
  leaseTime: 20_000,
});

/** A mixture of all faults. */
const drawFaulty = (random: Random): Plan => ({
  isCalm: false,
  span: random.pick([4_000, 30_000]),
  workers: random.int(1, 3),
  others: random.int(0, 2),
  endpoints: random.int(1, 3),
  events: random.int(1, 30),
  together: random.pick([1, 12]),
  accepts: random.pick([1, 0.5, 0.2]),
  fails: 0.5,
  hangs: random.pick([0, 0.3]),
  rotations: random.int(0, 3),
  pauses: random.int(0, 2),
  freezes: random.int(0, 2),
  jobLosses: random.int(0, 1),
  elections: random.int(0, 2),
  confirmation: random.pick([0, 5, 200]),
  skew: random.pick([0, 20, 500]),
  conditions: {
    latency: random.pick([1, 5, 50]),
    faults: random.pick([0, 0.03, 0.1, 0.3]),
    lateness: random.pick([500, 4_000, 20_000]),
    mostly: random.chance(0.5) ? random.pick<Fault>(faults) : undefined,
    crashRate: random.pick([0, 0.005, 0.02]),
  },
  leaseTime: 20_000,
});

/** Draws the plan of a seed. @param given replaces parts */
export const drawPlan = (random: Random, given: Partial<Plan>): Plan => ({
  ...((given.isCalm ?? random.chance(0.3)) ? drawCalm(random) : drawFaulty(random)),
  ...given,
});
