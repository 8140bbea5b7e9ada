import { shrinkCaches } from './billing-core.ts';
import { chargeIdOf } from './chain.ts';
import { createHarness, type Harness, type Variant } from './harness.ts';
import { entriesOf, entryKey, faultsAtRest } from './invariants.ts';
import { installTimers } from './timers.ts';
import { auditOf, command, exchange, startTraffic } from './traffic.ts';

export interface Outcome {
  seed: number;
  violations: readonly string[];
  /** The number of each kind of answer and failure. */
  seen: ReadonlyMap<string, number>;
  /** The trace, one line for each event. Empty if the run is not traced. */
  trace: readonly string[];
}

/** The age from which the sweep handles a page. A younger page is left to the process that has written it. */
const sweptAfterMs = 10_000;
const sweepRounds = 3;

/** Lets every process sweep in turn, until no page has work left. */
async function sweepAll({ schedule, processes, plan, violate }: Harness): Promise<void> {
  await schedule.run(schedule.now() + sweptAfterMs + 2 * plan.skew + 1);
  for (let round = 0; round < sweepRounds; round += 1) {
    for (const process of processes) {
      process.ask(0, process.sweep).catch((error) => violate(`a sweep failed: ${error}`));
      await schedule.run();
    }
  }
}

/** Exchanges every code again. If money and caps suffice, each uncharged code must succeed, and each charged code must be used. */
async function exchangeAll(harness: Harness): Promise<void> {
  const { schedule, walletIds, codes, violate } = harness;
  for (const walletId of walletIds) {
    const audit = auditOf(harness, walletId);
    const about = { walletId, kind: 'fund' as const, amount: 1_000_000 };
    const work = command(harness, about, async ({ manualEntries }) => {
      await manualEntries.setCaps(walletId, { perMinute: 5_000, perHour: 50_000 }, audit);
      return manualEntries.fund(walletId, about.amount, {
        reference: 'last',
        audit: { ...audit, id: `${audit.id} 2` },
      });
    });
    void work.then(({ outcome }) => {
      if (outcome !== 'written') violate(`the last funding of ${walletId} was answered "${outcome}"`);
    });
  }
  await schedule.run();
  const entries = entriesOf(harness);
  for (const code of codes) {
    const isUsed = entries.has(entryKey(code.walletId, chargeIdOf(code)));
    const usedAs = code.kind === 'token' ? 'used' : 'replayed';
    const expected = isUsed ? usedAs : 'charged';
    void exchange(harness, code).then(({ outcome, request }) => {
      if (outcome !== expected)
        violate(`${request}, in the end, was answered "${outcome}", not "${expected}"`);
    });
  }
  await schedule.run();
}

/** Runs the schedule of one seed. The same seed yields the same schedule, message by message. */
export async function simulate(
  seed: number,
  { variant = {}, trace = false }: { variant?: Variant; trace?: boolean } = {},
): Promise<Outcome> {
  const harness = createHarness(seed, { variant, trace });
  const { violations, violate, schedule } = harness;
  const restoreTimers = installTimers(schedule, harness.random);
  const restoreCaches = shrinkCaches();
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = trace ? stackTraceLimit : 0;
  try {
    startTraffic(harness).catch((error: unknown) => violate(`unexpected: ${error}`));
    await schedule.run();
    harness.recover();
    if (violations.length === 0) await exchangeAll(harness);
    if (violations.length === 0) await sweepAll(harness);
    if (violations.length === 0) violations.push(...faultsAtRest(harness));
  } catch (error) {
    violate(`unexpected: ${error instanceof Error ? error.stack : error}`);
  } finally {
    restoreTimers();
    restoreCaches();
    Error.stackTraceLimit = stackTraceLimit;
  }
  harness.see(harness.plan.deployment);
  if (harness.database.lost.length > 0) harness.see('page lost in a failover');
  return { seed, violations, seen: harness.seen, trace: harness.lines };
}
