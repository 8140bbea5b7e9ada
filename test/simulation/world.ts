import type { LedgerEntry } from '../../server/billing/ledger.ts';
import type { EventDraft } from '../../server/platform/outbox.ts';
import { createDatabase } from './database.ts';
import type { Guard } from './guards.ts';
import { createNetwork } from './network.ts';
import { drawPlan } from './plan.ts';
import { type Code, type Process, startProcess } from './process.ts';
import { createRandom } from './random.ts';
import { type Actor, createActor, createSchedule } from './schedule.ts';

/** What a client was told about an exchange. */
export interface Told {
  code: Code;
  answer: 'granted' | 'used' | 'exhausted' | 'refused' | 'unavailable' | 'silence';
  /** Of the access that was granted. */
  access?: { _id: string; attempt: string };
}

/** Everything that one schedule moves: the plan that the seed drew, the processes, and what was observed. */
export function createWorld(seed: number, settings: { removed?: Guard | undefined; trace: boolean }) {
  const { removed, trace } = settings;
  const random = createRandom(seed);
  const plan = drawPlan(random);
  const schedule = createSchedule(plan.start, random);
  const lines: string[] = [];

  /** Keeps a line of the trace; costs nothing where none is kept. */
  function log(actor: string, text: () => string): void {
    if (!trace) return;
    const seconds = ((schedule.now() - plan.start) / 1_000).toFixed(3).padStart(8);
    lines.push(`${seconds} ${actor.padEnd(9)} ${text()}`);
  }

  /** Clients, operators and chance: they outlive every process. */
  const outside = createActor('outside');
  const weather = { ...plan.weather };
  const network = createNetwork({ schedule, random, weather, spared: outside, survives, log });
  const database = createDatabase(network, removed);

  const events = new Map<string, EventDraft>();
  const publish = async (caller: Actor, drafts: readonly EventDraft[]): Promise<void> => {
    if (drafts.length === 0) return;
    await network.call(caller, () => `publish ${drafts.length}`, {
      run: (limit) => {
        for (const draft of drafts.slice(0, limit)) events.set(draft.cause.join(), draft);
      },
      size: drafts.length,
    });
  };

  const walletIds = Array.from({ length: plan.wallets }, (_, n) => `ptr_${n + 1}:live`);
  for (const id of walletIds) database.open(id, plan.caps);
  const codes: Code[] = walletIds.flatMap((walletId) =>
    Array.from({ length: plan.codes }, (_, n) => ({
      cause: `${walletId} code ${n + 1}`,
      kind: n % 3 === 2 ? 'checkbox' : 'token',
      walletId,
    })),
  );

  const seen = new Map<string, number>();
  const see = (what: string) => seen.set(what, (seen.get(what) ?? 0) + 1);

  function start(n: number): Process {
    const skew = random.between(-plan.skew, plan.skew);
    return startProcess({ name: `process ${n + 1}`, skew, schedule, database, publish, removed, see });
  }
  const processes = Array.from({ length: plan.processes }, (_, n) => start(n));

  /** Ends a process with everything that it had in memory. */
  function crash(process: Process): void {
    if (!process.actor.alive) return;
    log(process.actor.name, () => 'crashes');
    process.crash();
  }

  function restart(n: number): void {
    log(`process ${n + 1}`, () => 'starts');
    processes[n] = start(n);
  }

  /** A process may die at any of its steps: before it sends something, or soon after it has. */
  function survives(caller: Actor, what: () => string): boolean {
    const n = processes.findIndex(({ actor }) => actor === caller);
    const process = processes[n];
    if (!process) return true;
    const fatal = weather.fatalStep !== undefined && what().startsWith(weather.fatalStep);
    if (!random.chance(fatal ? weather.fatality : weather.crashRate)) return true;

    const before = random.chance(fatal ? weather.fatality : 0.5);
    if (before) crash(process);
    else schedule.after(random.between(0, 3 * weather.latency), outside, () => crash(process));
    schedule.after(3 * weather.latency + random.between(0, 3_000), outside, () => {
      if (processes[n] === process) restart(n);
    });
    return !before;
  }

  return {
    plan,
    random,
    schedule,
    weather,
    database,
    events,
    walletIds,
    codes,
    processes,
    log,
    lines,
    seen,
    see,
    outside,
    told: [] as Told[],
    /** The entries that operators were told of. */
    moved: [] as LedgerEntry[],
    /** What should never be seen, in words. */
    violations: [] as string[],
    anyProcess: (): Process | undefined => random.some(processes.filter(({ actor }) => actor.alive)),

    /** Calm weather, and every process in a new life. */
    recover(): void {
      Object.assign(weather, { faults: 0, crashRate: 0, mostlyTo: undefined, fatalStep: undefined });
      for (const process of processes) crash(process);
      for (let n = 0; n < processes.length; n += 1) restart(n);
    },
  };
}
export type World = ReturnType<typeof createWorld>;
