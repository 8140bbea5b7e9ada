import type { EntryKind } from '../../../contracts/charge.ts';
import { isBillable } from '../../../server/billing/ledger/wallet-rules.ts';
import type { Moved } from '../../../server/billing/manual-entries.ts';
import { isUnavailable } from '../../../server/platform/database/connect.ts';
import { ApiError } from '../../../server/platform/errors.ts';
import type { Command, Exchange, Harness } from './harness.ts';
import { CallerOver, type Code, type Process } from './process.ts';

/** The time limit of the billable endpoints in `answerInTime`, in milliseconds. */
const answerWithinMs = 4_500;

function refusalOf(error: unknown): Exchange['outcome'] {
  if (!(error instanceof ApiError)) return isUnavailable(error) ? 'unavailable' : 'error';
  if (error.cause instanceof CallerOver) return 'over';
  if (error.code === 'service_unavailable') return 'unavailable';
  if (error.code === 'payment_required') return 'insufficient';
  if (error.code !== 'rate_limited') return 'error';
  return error.message.includes('minute') ? 'minute' : 'hour';
}

const wait = ({ schedule, outside }: Harness, ms: number) => schedule.sleep(ms, outside);

/** Sends one request to exchange `code` to any process, and adds its answer to `exchanges`. */
export async function exchange(harness: Harness, code: Code): Promise<Exchange> {
  const { plan, random, schedule, exchanges, byRequest, log, see } = harness;
  const process = harness.anyProcess();
  const request = `request ${exchanges.length + 1}`;
  const result: Exchange = { request, code, askedAt: schedule.now(), outcome: 'silence', ended: false };
  exchanges.push(result);
  byRequest.set(request, result);
  if (!process) return Object.assign(result, { ended: true });

  function answer(outcome: Exchange['outcome'], granted?: Exchange['granted']): void {
    if (result.answeredAt !== undefined) return;
    Object.assign(result, { outcome, answeredAt: schedule.now(), ...(granted && { granted }) });
    see(outcome);
    log(
      process?.actor.name ?? '',
      () => `answers ${request} about ${code.walletId} ${code.cause}: ${outcome}`,
    );
  }
  const disconnectsAt = random.chance(plan.disconnects)
    ? schedule.now() + random.between(0, 2_000)
    : Number.POSITIVE_INFINITY;
  const isConnected = () => schedule.now() < disconnectsAt;
  log('client', () => `sends ${request} about ${code.walletId} ${code.cause} to ${process.actor.name}`);
  try {
    const reply = await process.ask(0, () => {
      schedule.after(answerWithinMs, process.actor, () => answer('late'));
      return process.exchange(code, request, isConnected);
    });
    if (reply === 'used' || reply === 'silence') answer(reply);
    else answer(reply.replayed ? 'replayed' : 'charged', reply);
  } catch (error) {
    const outcome = refusalOf(error);
    if (outcome === 'error') see(`error: ${error instanceof Error ? error.message : String(error)}`);
    answer(outcome);
  }
  return Object.assign(result, { ended: true });
}

const final: readonly Exchange['outcome'][] = ['charged', 'used', 'replayed'];

/** Repeats an exchange until it is granted, sometimes with several simultaneous requests, and sometimes once more after that. */
async function client(harness: Harness, code: Code): Promise<void> {
  const { random, plan } = harness;
  await wait(harness, random.between(0, plan.span));
  for (let n = 0; n < plan.tries; n += 1) {
    const count = random.pick([1, 1, 1, 2, 3]);
    const answers = await Promise.all(Array.from({ length: count }, () => exchange(harness, code)));
    if (answers.some(({ outcome }) => final.includes(outcome)) && random.chance(0.6)) return;
    await wait(harness, random.between(0, random.pick([20, plan.pause])));
  }
}

const codeOf: Partial<Record<string, Command['outcome']>> = {
  refused: 'refused',
  conflict: 'conflict',
  not_found: 'not found',
  service_unavailable: 'unavailable',
};

type Run = (process: Process) => Promise<Moved | undefined>;

/** Sends one command to any process, and adds its answer to `commands`. */
export async function command(
  harness: Harness,
  about: Pick<Command, 'walletId' | 'kind' | 'amount'>,
  run: Run,
): Promise<Command> {
  const { schedule, commands, see, log } = harness;
  const process = harness.anyProcess();
  const result: Command = { ...about, askedAt: schedule.now(), outcome: 'silence', ended: false };
  commands.push(result);
  if (!process) return Object.assign(result, { ended: true });
  try {
    const moved = await process.ask(0, () => run(process));
    if (moved !== 'silence') {
      result.outcome = moved?.repeated ? 'repeated' : 'written';
      if (moved) result.entry = moved.entry;
    }
  } catch (error) {
    const unavailable = isUnavailable(error) ? 'unavailable' : 'error';
    result.outcome = error instanceof ApiError ? (codeOf[error.code] ?? 'error') : unavailable;
    if (result.outcome === 'error') see(`error: ${error instanceof Error ? error.message : String(error)}`);
  }
  see(`command ${result.outcome}`);
  log(
    process.actor.name,
    () => `answers ${about.kind} of ${about.amount} in ${about.walletId}: ${result.outcome}`,
  );
  return Object.assign(result, { answeredAt: schedule.now(), ended: true });
}

export const auditOf = (harness: Harness, target: string) => ({
  operatorId: 'opr_1',
  operatorName: 'Operator',
  action: 'wallets.change',
  requestId: 'req_1',
  address: '127.0.0.1',
  id: `audit ${harness.nextAudit()}`,
  at: new Date(harness.schedule.now()),
  target,
});

/** Draws a command of an operator for one wallet. */
function drawCommand(
  harness: Harness,
  walletId: string,
): { about: Pick<Command, 'walletId' | 'kind' | 'amount'>; run: Run } {
  const { random, database } = harness;
  const kind = random.pick(harness.plan.commandKinds);
  const amount = random.pick([50, 100, 250]) * (kind === 'adjust' && random.chance(0.7) ? -1 : 1);
  const memo = { reference: `reference ${random.int(1, 4)}`, reason: 'asked for', actor: 'opr_1' };
  const audited = () => ({ ...memo, audit: auditOf(harness, walletId) });
  const about = { walletId, kind, amount };
  switch (kind) {
    case 'fund':
      return { about, run: (process) => process.manualEntries.fund(walletId, amount, audited()) };
    case 'adjust':
      return { about, run: (process) => process.manualEntries.adjust(walletId, amount, audited()) };
    case 'caps': {
      const caps = { perMinute: random.pick([1, 3, 6, 1_000]) };
      return {
        about,
        run: async (process) => {
          await process.manualEntries.setCaps(walletId, caps, auditOf(harness, walletId));
          return undefined;
        },
      };
    }
    case 'refund': {
      const isCharge = ({ kind, amount }: { kind: EntryKind; amount: number }) =>
        isBillable(kind) && amount < 0;
      const charges = (database.chains.get(walletId) ?? []).flatMap(({ page }) =>
        page.entries.filter(isCharge),
      );
      const id = random.some(charges)?.id ?? 'txn_unknown';
      return { about, run: (process) => process.manualEntries.refund(id, audited()) };
    }
  }
}

/** Sends an operator's command, sometimes twice simultaneously, and repeats it until it is answered. */
async function operator(harness: Harness): Promise<void> {
  const { random, plan } = harness;
  await wait(harness, random.between(0, plan.span * 1.3));
  const { about, run } = drawCommand(harness, random.some(harness.walletIds) ?? '');
  for (let n = 0; n < 3; n += 1) {
    const count = random.pick([1, 1, 2]);
    const answers = await Promise.all(Array.from({ length: count }, () => command(harness, about, run)));
    const unanswered = answers.some(({ outcome }) => outcome === 'silence' || outcome === 'unavailable');
    if (!unanswered && random.chance(0.7)) return;
    await wait(harness, random.between(0, 1_000));
  }
}

/** Schedules failures that are independent of calls. */
function scheduleFailures(harness: Harness): void {
  const { plan, random, schedule, outside, database, clocks } = harness;
  const sometime = (run: () => void) => void schedule.after(random.between(0, plan.span * 1.2), outside, run);
  for (let n = 0; n < plan.failovers; n += 1) {
    const outage = random.between(1, plan.outage);
    if (random.chance(0.5)) sometime(() => harness.failOver(outage));
    else {
      // Writes are applied without confirmation, and then lost.
      sometime(() => {
        const stall = random.pick([20, 300, 2_500]);
        database.stall(stall);
        schedule.after(random.between(0, stall), outside, () => harness.failOver(outage));
      });
    }
  }
  for (let n = 0; n < plan.stalls; n += 1) sometime(() => database.stall(random.pick([100, 1_000, 4_000])));
  for (let n = 0; n < plan.clockSteps; n += 1) {
    sometime(() => {
      const clock = random.some(clocks);
      if (clock) clock.offset = random.between(-plan.skew, plan.skew);
      harness.noteOffsets();
    });
  }
  for (let n = 0; n < plan.refreshes; n += 1) {
    sometime(() => {
      const process = harness.anyProcess();
      if (process?.joined) schedule.after(0, process.actor, () => void process.joined?.refresh());
    });
  }
  for (let n = 0; n < plan.processPauses; n += 1) {
    sometime(() => {
      const actor = harness.anyProcess()?.actor;
      if (!actor) return;
      harness.log(actor.name, () => 'stands still');
      actor.pausedUntil = schedule.now() + random.pick([50, 1_000, 3_000]);
    });
  }
}

async function sweep(harness: Harness): Promise<void> {
  const { random, plan } = harness;
  await wait(harness, random.between(0, plan.span + 15_000));
  const process = harness.anyProcess();
  await process?.ask(0, process.sweep).catch(() => harness.see('sweep failed'));
}

const times = (count: number, run: () => Promise<void>) => Array.from({ length: count }, run);

/** Starts all clients, operators and failures of a plan. Resolves when the last request is answered. */
export async function startTraffic(harness: Harness): Promise<void> {
  const { plan } = harness;
  scheduleFailures(harness);
  await Promise.all([
    ...harness.codes.map((code) => client(harness, code)),
    ...times(plan.commands, () => operator(harness)),
    ...times(plan.sweeps, () => sweep(harness)),
  ]);
}
