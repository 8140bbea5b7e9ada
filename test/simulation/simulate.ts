import { keepFor } from '../../server/billing/access-store.ts';
import { isUnavailable } from '../../server/platform/database/connect.ts';
import { hour, windowStart } from '../../server/platform/windows.ts';
import type { Guard } from './guards.ts';
import { faultsAtRest, faultsNow, limitFaults, stateOf } from './invariants.ts';
import { installTimers } from './timers.ts';
import { exchange, startTraffic } from './traffic.ts';
import { createWorld, type World } from './world.ts';

export interface Outcome {
  seed: number;
  violations: readonly string[];
  /** How often what was seen: answers to clients, verdicts of wallets, tombstones. */
  seen: ReadonlyMap<string, number>;
  /** What happened, a line each; only of a traced run. */
  trace: readonly string[];
}

/** Longer than any deadline of a hold. */
const pastDeadlines = 20_000;
const largestRounds = 40;
const inspections = 3;
const sweepsAfterSleep = 5;

/** Tells two states of the books apart: entries are only ever added, wallets also change. */
const stored = ({ database: { wallets, ledger }, events }: World) =>
  [...wallets.values()]
    .flatMap(({ balance, seq, settled, holds }) => [balance, seq, settled, holds.length])
    .concat(ledger.size, events.size)
    .join();

/** Looks at the books at random moments while the faults go on. */
function inspect(world: World): void {
  const { schedule, random, plan, outside, violations } = world;
  for (let n = 0; n < inspections; n += 1) {
    schedule.after(random.between(0, plan.span), outside, () => {
      if (violations.length === 0) violations.push(...faultsNow(world), ...limitFaults(world));
    });
  }
}

/** Every process sweeps once; what that starts is carried to its end. */
async function sweepAll({ schedule, processes, violations }: World): Promise<void> {
  await schedule.run(schedule.now() + pastDeadlines);
  for (const process of processes) {
    process.ask(0, process.sweep).catch((error: unknown) => {
      if (!isUnavailable(error)) violations.push(`a sweep failed: ${error}`);
    });
    await schedule.run();
  }
}

/** Calm weather, every process started anew, and sweeps until nothing changes. */
async function comeToRest(world: World): Promise<void> {
  const { violations } = world;
  world.recover();
  for (let round = 0; round < largestRounds; round += 1) {
    const before = stored(world);
    await sweepAll(world);
    if (stored(world) === before) return;
  }
  violations.push('sweeping never comes to an end');
}

/** With money and room enough, every code that has bought nothing yet can still be exchanged. */
async function tryAgain(world: World): Promise<void> {
  const { schedule, database, processes, codes, violations } = world;
  await schedule.run(windowStart(schedule.now(), hour) + 2 * hour);
  for (const [id, wallet] of database.wallets) {
    database.wallets.set(id, { ...wallet, caps: { perMinute: 1_000, perHour: 1_000 } });
    const memo = { reference: 'enough for all', actor: 'opr_1' };
    const [process] = processes;
    process
      ?.ask(0, () => process.fund(id, 1_000_000, memo))
      .catch((error) => violations.push(`unfunded: ${error}`));
  }
  await schedule.run();
  for (const code of codes) {
    const state = stateOf(world, code);
    if (state === 'used') continue;
    const expected = state === 'open' ? 'granted' : 'exhausted';
    void exchange(world, code).then((answer) => {
      if (answer !== expected) violations.push(`${code.cause} is told "${answer}", not "${expected}"`);
    });
  }
  await schedule.run();
}

/** An idempotency key that comes back after its records are purged is not charged again. */
async function comeBackLate(world: World): Promise<void> {
  const { schedule, database, codes, violations } = world;
  const before = stored(world);
  await schedule.run(schedule.now() + keepFor + hour);
  await sweepAll(world);
  if (database.accesses.size > 0) violations.push('records are kept for ever');
  const key = codes.find(({ kind }) => kind === 'checkbox');
  if (key) {
    void exchange(world, key).then((answer) => {
      if (answer !== 'exhausted') violations.push(`${key.cause} is told "${answer}" after its purge`);
    });
  }
  await schedule.run();
  if (stored(world) !== before) violations.push('something was bought after the purge');
}

/**
 * No process runs for longer than records are kept. What was under way when the last one died is judged by
 * all that start, at once and more than once.
 */
async function sleepLong(world: World): Promise<void> {
  const { schedule, processes, random } = world;
  for (const process of processes) process.crash();
  await schedule.run(schedule.now() + keepFor + hour);
  world.recover();
  for (let sweep = 0; sweep < sweepsAfterSleep; sweep += 1) {
    for (const process of processes)
      process.ask(random.between(0, sweepsAfterSleep * 1_000), process.sweep).catch(() => undefined);
  }
  await schedule.run();
}

/** Runs the schedule of one seed. The same seed leads to the same schedule, message by message. */
export async function simulate(
  seed: number,
  { removed, trace = false }: { removed?: Guard; trace?: boolean } = {},
): Promise<Outcome> {
  const world = createWorld(seed, { removed, trace });
  const undo = installTimers(world.schedule);
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = trace ? stackTraceLimit : 0;
  const { violations, schedule } = world;
  try {
    inspect(world);
    let traffic = 'is under way';
    startTraffic(world).then(
      () => {
        traffic = 'is over';
      },
      (error: unknown) => violations.push(`unexpected: ${error instanceof Error ? error.stack : error}`),
    );
    await schedule.run();
    if (world.plan.sleepsLong) await sleepLong(world);
    await sweepAll(world);
    await comeToRest(world);
    if (traffic !== 'is over' && violations.length === 0) violations.push('a client waits for ever');
    if (violations.length === 0) violations.push(...faultsAtRest(world));
    if (violations.length === 0 && !world.plan.sleepsLong) await tryAgain(world);
    if (violations.length === 0) violations.push(...faultsAtRest(world));
    for (const { state } of world.database.granted.values()) world.see(state);
    if (violations.length === 0 && !world.plan.sleepsLong) await comeBackLate(world);
  } catch (error) {
    violations.push(String(error));
  } finally {
    undo();
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { seed, violations, seen: world.seen, trace: world.lines };
}
