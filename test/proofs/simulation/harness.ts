import type { LedgerEntry, LedgerPage } from '../../../server/billing/ledger/ledger-page.ts';
import { walletIdOf } from '../../../server/billing/ledger/ledger-page.ts';
import { draftPage, openingPage } from '../../../server/billing/ledger/page-builder.ts';
import type { AuditEntry } from '../../../server/platform/database/audit/audit-entry.ts';
import type { EventDraft } from '../../../server/platform/database/event-draft.ts';
import { type BillingCore, product } from './billing-core.ts';
import { createDatabase, type StoredPage } from './database.ts';
import { createFold } from './fold.ts';
import { createNetwork } from './network.ts';
import { createPeerLinks } from './peers.ts';
import { type CommandKind, drawPlan, type Plan } from './plan.ts';
import { type Code, type Granted, type Process, startProcess } from './process.ts';
import { createRandom } from './random.ts';
import { type Actor, createActor, createSchedule } from './schedule.ts';

/** The changes of a run: a plan's settings, the product, or the database. */
export interface Variant {
  core?: BillingCore | undefined;
  withoutEntryIndex?: boolean;
  localReads?: boolean;
  plan?: Partial<Plan>;
}

/**
 * One request of an exchange and its answer. `over`: 503, because the posting left the queue. `late`: 503 after 4.5 s.
 */
export interface Exchange {
  request: string;
  code: Code;
  askedAt: number;
  answeredAt?: number;
  outcome:
    | 'charged'
    | 'replayed'
    | 'used'
    | 'insufficient'
    | 'minute'
    | 'hour'
    | 'over'
    | 'late'
    | 'unavailable'
    | 'error'
    | 'silence';
  granted?: Granted;
  /** Whether the product has finished the request, in time or late. */
  ended: boolean;
}

/** One command of an operator and its answer. */
export interface Command {
  walletId: string;
  kind: CommandKind;
  amount: number;
  askedAt: number;
  answeredAt?: number;
  outcome:
    | 'written'
    | 'repeated'
    | 'refused'
    | 'conflict'
    | 'not found'
    | 'unavailable'
    | 'error'
    | 'silence';
  entry?: LedgerEntry & { walletId: string };
  ended: boolean;
}

/** Answers after which a posting may be sent again: the index of ids refuses it, or there was no answer. */
const harmless: readonly Exchange['outcome'][] = ['silence', 'charged', 'used', 'replayed'];
const firstMoney = 'opening balance';

/** The parts of one schedule: the plan of its seed, the processes, the database, and the observations. */
export function createHarness(seed: number, { variant = {}, trace }: { variant?: Variant; trace: boolean }) {
  const random = createRandom(seed);
  const plan = { ...drawPlan(random), ...variant.plan };
  const schedule = createSchedule(plan.start, random);
  const lines: string[] = [];
  const violations: string[] = [];
  const seen = new Map<string, number>();
  const see = (what: string) => void seen.set(what, (seen.get(what) ?? 0) + 1);

  /** Adds a line to the trace. Without `trace`, the text is not made. */
  function log(actor: string, text: () => string): void {
    if (!trace) return;
    const seconds = ((schedule.now() - plan.start) / 1_000).toFixed(4).padStart(9);
    lines.push(`${seconds} ${actor.padEnd(9)} ${text()}`);
  }

  function violate(text: string): void {
    log('invariant', () => `VIOLATED: ${text}`);
    violations.push(text);
  }

  const folds = new Map<string, ReturnType<typeof createFold>>();
  function onConfirmed({ page }: StoredPage): void {
    const fold = folds.get(page.walletId) ?? createFold();
    folds.set(page.walletId, fold);
    for (const fault of fold.add(page)) violate(fault);
  }

  const { deployment, confirmation, electionLag } = plan;
  const { withoutEntryIndex = false, localReads = false, core = product } = variant;
  const database = createDatabase({
    schedule,
    random,
    deployment,
    confirmation,
    electionLag,
    withoutEntryIndex,
    localReads,
    log,
    onConfirmed,
  });
  const conditions = { ...plan.conditions, messages: plan.messageFaults };
  const links = createPeerLinks({ schedule, random, conditions, log });
  const network = createNetwork({ schedule, random, conditions, database, survives, log });

  const partners = Array.from({ length: plan.wallets }, (_, n) => `ptr_${n + 1}`);
  const codes: Code[] = partners.flatMap((partnerId) =>
    Array.from({ length: plan.codes }, (_, n) => ({
      partnerId,
      walletId: walletIdOf(partnerId, 'live'),
      // Two wallets may have the same causes.
      cause: `code ${n + 1}`,
      kind: (['token', 'token', 'checkbox', 'storefront'] as const)[n % 4] ?? 'token',
      cents: n % 7 === 6 ? 0 : 50,
    })),
  );
  const walletIds = partners.map((partnerId) => walletIdOf(partnerId, 'live'));
  for (const walletId of walletIds) {
    const at = new Date(plan.start - 10_000);
    const opening = openingPage(walletId, at);
    database.seed(opening);
    const funding = { walletId, id: firstMoney, kind: 'funding' as const, amount: plan.funds };
    const caps = { walletId, id: 'first caps', kind: 'caps' as const, amount: 0, memo: { caps: plan.caps } };
    database.seed(draftPage({ ...opening, asOf: 0 }, [caps, funding], +at).page);
  }

  const exchanges: Exchange[] = [];
  const byRequest = new Map<string, Exchange>();
  const attempts = new Set<string>();
  /** Ids of the pages that a fence was sent to replace. */
  const fenced = new Set<string>();
  /** Wallets whose process requested a fence after a lost hand-over. */
  const fencedWallets = new Set<string>();
  /** The index of ids refuses an entry whose id exists in an earlier page. */
  const stands = (walletId: string, id: string) =>
    (database.chains.get(walletId) ?? []).some(({ page }) => page.entries.some((entry) => entry.id === id));
  /** A page must not be sent with a posting whose caller already has an answer, unless its id exists. */
  function onSend(pages: readonly LedgerPage[]): void {
    for (const { attempt, entries, _id, walletId } of pages) {
      if (attempts.has(attempt)) continue;
      attempts.add(attempt);
      if (entries.some(({ kind }) => kind === 'fence')) fenced.add(_id);
      for (const { id, grant } of entries) {
        const exchange = grant && byRequest.get(grant.scope);
        if (exchange?.answeredAt === undefined || harmless.includes(exchange.outcome)) continue;
        if (stands(walletId, id)) continue;
        violate(`${exchange.request} is first sent in ${_id} after its answer "${exchange.outcome}"`);
      }
    }
  }

  let audits = 0;
  const events = new Map<string, EventDraft>();
  const auditLog = new Map<string, AuditEntry>();
  const clocks = Array.from({ length: plan.processes }, () => ({
    offset: random.between(-plan.skew, plan.skew),
    handsOver: random.chance(plan.handOvers),
  }));
  const receivers = () =>
    processes.flatMap(({ actor, joined }) => (actor.alive && joined ? [{ actor, ...joined }] : []));
  const largestOffsets = { lowest: 0, highest: 0 };
  function noteOffsets(): void {
    for (const { offset } of clocks) {
      largestOffsets.lowest = Math.min(largestOffsets.lowest, offset);
      largestOffsets.highest = Math.max(largestOffsets.highest, offset);
    }
  }
  noteOffsets();

  function start(n: number): Process {
    const now = () => schedule.now() + (clocks[n]?.offset ?? 0);
    const name = `process ${n + 1}`;
    const peers = clocks[n]?.handsOver
      ? {
          send: links,
          processesPerWriter: plan.processesPerWriter,
          list: () => receivers().map(({ self }) => ({ id: self, host: '', address: '' })),
          find: (id: string) => receivers().find(({ self }) => self === id),
          // It follows the database's clock, even if the machine's clock is wrong.
          databaseTime: () => schedule.now() + Math.max(-400, Math.min(400, clocks[n]?.offset ?? 0)),
        }
      : undefined;
    const onFence = (walletId: string) => void fencedWallets.add(walletId);
    const hooks = { onSend, onFence, see };
    const settings = { name, core, schedule, database, network, now, events, auditLog, peers, ...hooks };
    const process = startProcess(settings);
    if (process.joined) schedule.after(0, process.actor, () => void process.joined?.refresh());
    return process;
  }
  const processes: Process[] = [];
  for (const n of clocks.keys()) processes.push(start(n));

  function crash(process: Process): void {
    if (!process.actor.alive) return;
    log(process.actor.name, () => 'crashes');
    see('process crash');
    process.crash();
  }

  function restart(n: number): void {
    log(`process ${n + 1}`, () => 'starts');
    processes[n] = start(n);
  }

  const outside = createActor('outside');
  /** A process may crash at each of its calls: before the call, or soon afterwards. */
  function survives(caller: Actor, name: () => string): boolean {
    const n = processes.findIndex(({ actor }) => actor === caller);
    const process = processes[n];
    if (!process) return true;
    const { crashRate, crashAt, latency } = conditions;
    const likely = crashAt !== undefined && crashRate > 0 && name().startsWith(crashAt);
    if (!random.chance(likely ? 0.3 : crashRate)) return true;
    const before = random.chance(0.5);
    if (before) crash(process);
    else schedule.after(random.between(0, 3 * latency), outside, () => crash(process));
    schedule.after(3 * latency + random.between(0, 2_000), outside, () => {
      if (processes[n] === process) restart(n);
    });
    return !before;
  }

  return {
    plan,
    random,
    schedule,
    conditions,
    database,
    events,
    auditLog,
    walletIds,
    codes,
    processes,
    clocks,
    largestOffsets,
    noteOffsets,
    exchanges,
    byRequest,
    fenced,
    fencedWallets,
    commands: [] as Command[],
    outside,
    nextAudit: () => {
      audits += 1;
      return audits;
    },
    violations,
    violate,
    lines,
    log,
    seen,
    see,
    anyProcess: (): Process | undefined => random.some(processes.filter(({ actor }) => actor.alive)),

    /** The server reports a change to all processes, with a different delay for each. */
    failOver(ms: number): void {
      const report = () => {
        for (const { actor, forgetHeads } of processes)
          schedule.after(random.between(0, 20), actor, forgetHeads);
      };
      see('failover');
      database.failFor(ms, report);
      report();
    },

    /** Ends all faults, and starts each process again. */
    recover(): void {
      Object.assign(conditions, { faults: 0, crashRate: 0, messages: 0 });
      plan.disconnects = 0;
      for (const process of processes) crash(process);
      for (let n = 0; n < processes.length; n += 1) restart(n);
    },
  };
}
export type Harness = ReturnType<typeof createHarness>;
