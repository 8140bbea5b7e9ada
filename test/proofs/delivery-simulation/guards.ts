import { type Edit, editedWebhooks } from './edited-server.ts';
import type { Plan } from './plan.ts';
import type { Variant } from './simulate.ts';
import type { StoreGuards } from './store.ts';

/** One safeguard of the delivery, and the change that removes it. */
interface Guard {
  title: string;
  /** The edits of the product's source that remove the safeguard. */
  edits?: readonly Edit[];
  /** A condition of an update that the store leaves out. */
  store?: StoreGuards;
  /** The kind of schedule in which the removal is found. */
  plan: Partial<Plan>;
  /** For a guard that is a part of the plan, what replaces it. */
  removed?: Partial<Plan>;
  /** The seeds with which the simulation finds the removal. */
  budget: number;
  /** The seed that found the removal last, which is tried before the others. */
  foundBy?: number;
}

const folder = 'server/webhooks';
const edit = (file: string, find: string, replace: string): Edit => ({
  file: `${folder}/${file}`,
  find,
  replace,
});

const calm: Partial<Plan> = { isCalm: true };
const busy: Partial<Plan> = { isCalm: true, events: 40, endpoints: 1, together: 12, accepts: 1 };
const failing: Partial<Plan> = { isCalm: true, accepts: 0.2 };
const faulty: Partial<Plan> = { isCalm: false };
/** Processes are frozen for longer than leases, while receivers do not answer. */
const frozen: Partial<Plan> = {
  ...{ isCalm: false, workers: 3, others: 0, endpoints: 1, events: 30, together: 12, span: 30_000 },
  ...{ accepts: 0.1, fails: 0, hangs: 1, pauses: 0, freezes: 12 },
};
/** Replies are lost, and the outbox publishes again. */
const repeated: Partial<Plan> = {
  isCalm: false,
  events: 20,
  conditions: { latency: 5, faults: 0.3, mostly: 'reply lost', lateness: 500, crashRate: 0 },
};
/** Processes crash while they publish. */
const crashing: Partial<Plan> = {
  isCalm: false,
  events: 30,
  together: 1,
  conditions: { latency: 5, faults: 0.1, mostly: 'request lost', lateness: 500, crashRate: 0.02 },
};

/** Members of the database are elected while events are published, so that unconfirmed writes are rolled back. */
const elected: Partial<Plan> = {
  ...{ isCalm: false, events: 30, together: 1, span: 4_000, elections: 6, confirmation: 200 },
  conditions: { latency: 5, faults: 0, lateness: 500, crashRate: 0 },
};

/** The safeguards of the delivery. Each of them, if it is removed, must cause a violation. */
export const guards: readonly Guard[] = [
  {
    title: 'a result is recorded only if its lease holds',
    store: { withoutTokenAtRecord: true },
    plan: frozen,
    budget: 200,
    foundBy: 31,
  },
  {
    title: 'a delivery is leased only while it is pending',
    store: { withoutStatusAtLease: true },
    plan: { ...busy, workers: 3, others: 1 },
    budget: 200,
    foundBy: 11,
  },
  {
    title: 'a first delivery that existed before is not sent by its second publication',
    store: { withoutTokenAtInsert: true },
    plan: repeated,
    budget: 100,
  },
  {
    title: 'a delivery that is named twice in a lease is sent once',
    edits: [edit('delivery/due.ts', 'byId.delete(id);', '')],
    plan: frozen,
    budget: 300,
  },
  {
    title: 'a lease ends only after its time',
    store: { withoutLeaseTime: true },
    plan: faulty,
    budget: 100,
  },
  {
    title: 'a lease is longer than an attempt',
    plan: { isCalm: false, accepts: 0, fails: 0, hangs: 1, span: 30_000 },
    removed: { leaseTime: 5_000 },
    budget: 100,
  },
  {
    title: 'an attempt is sent in the first quarter of its lease',
    edits: [
      edit('delivery/attempt.ts', 'if (isQuarterOver(leased, clock.now())) return postpone(leased);', ''),
    ],
    plan: frozen,
    budget: 1_000,
    foundBy: 408,
  },
  {
    title: 'attempts of processes that have ended are made again',
    edits: [
      edit('delivery/due.ts', 'const recovered = await deliveries.recover(now());', 'const recovered = 0;'),
    ],
    plan: crashing,
    budget: 100,
  },
  {
    title: 'a delivery is not sent before its event is stored',
    edits: [edit('delivery/attempt.ts', "if (leased.body === '') return postpone(leased);", '')],
    plan: crashing,
    budget: 300,
    foundBy: 80,
  },
  {
    title: 'an event whose insert was not confirmed is published again',
    edits: [
      edit(
        'delivery/publish.ts',
        "for (const result of results) if (result.status === 'rejected') throw result.reason;",
        '',
      ),
    ],
    plan: elected,
    budget: 100,
  },
  {
    title: 'a first attempt is sent only if its insert was confirmed',
    edits: [
      edit(
        'delivery/due.ts',
        'stored.catch(() => new Set<string>())',
        'stored.catch(() => new Set(leased.map(({ _id }) => _id)))',
      ),
    ],
    plan: elected,
    budget: 100,
    foundBy: 47,
  },
  {
    title: 'an event that is twice in a publication takes one slot',
    edits: [
      edit(
        'delivery/publish.ts',
        'const firsts = [...new Map(composed.map((first) => [first.event._id, first])).values()];',
        'const firsts = composed;',
      ),
    ],
    plan: calm,
    budget: 100,
  },
  {
    title: 'a first attempt takes a slot only if one is free',
    edits: [edit('delivery/backlog.ts', 'capacityOf(endpoint).slots > 0 && ', '')],
    plan: busy,
    budget: 100,
  },
  {
    title: 'a slot becomes free when its attempt has ended',
    edits: [edit('delivery/due.ts', 'backlog.free(keyId, lane);', '')],
    plan: busy,
    budget: 100,
  },
  {
    title: 'a worker looks for deliveries that other processes have stored',
    edits: [edit('delivery/due.ts', 'backlog.found(keyId, ids);', '')],
    plan: { ...calm, others: 2 },
    budget: 100,
  },
  {
    title: 'the job of a retry is made when its attempt has failed',
    edits: [edit('delivery/due.ts', 'if (dueAt) await retryAt(dueAt);', '')],
    plan: failing,
    budget: 100,
  },
  {
    title: 'a paused endpoint gets nothing',
    edits: [
      edit(
        'delivery/attempt.ts',
        'if (pausedUntil && pausedUntil > now())',
        'if (pausedUntil && pausedUntil < new Date(0))',
      ),
    ],
    plan: { ...faulty, pauses: 3, span: 30_000, events: 30 },
    budget: 100,
  },
  {
    title: 'an attempt is repeated after the delay that follows it',
    edits: [edit('delivery/retry-schedule.ts', 'delays[attempt - 1]', 'delays[attempt]')],
    plan: failing,
    budget: 100,
  },
  {
    title: 'a delivery has three attempts at most',
    edits: [
      edit('delivery/retry-schedule.ts', 'attempt >= limit || delay === undefined', 'false'),
      edit(
        'delivery/retry-schedule.ts',
        'result.at.getTime() + delay',
        'result.at.getTime() + (delay ?? 1_000)',
      ),
    ],
    plan: failing,
    budget: 100,
  },
  {
    title: 'attempts have the numbers of the schedule',
    edits: [edit('delivery/retry-schedule.ts', 'attempt: attempt + 1', 'attempt: attempt')],
    plan: failing,
    budget: 100,
  },
];

export const withoutGuard = ({ edits = [], store = {}, plan, removed = {} }: Guard): Variant => ({
  core: editedWebhooks(edits),
  guards: store,
  plan: { ...plan, ...removed },
});
