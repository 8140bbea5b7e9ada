import { entryOf, opposite } from '../../server/billing/ledger.ts';
import type { Moved } from '../../server/billing/movements.ts';
import { isBillable, type Posting } from '../../server/billing/wallet-model.ts';
import { isUnavailable } from '../../server/platform/database/connect.ts';
import { ApiError } from '../../server/platform/errors.ts';
import type { Code, Process } from './process.ts';
import type { Told, World } from './world.ts';

/** Who acts on the processes of a world while the faults go on: clients, operators, neighbours, and chance. */

function answerTo(error: unknown): Told['answer'] {
  if (isUnavailable(error)) return 'unavailable';
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 'invalid_grant') return (error.extras.detail as { state: 'used' | 'exhausted' }).state;
  if (error.code === 'service_unavailable') return 'unavailable';
  if (error.code === 'payment_required' || error.code === 'rate_limited') return 'refused';
  throw error;
}

/** One exchange of a code at any process; what the client was told is kept in `told`. */
export async function exchange(world: World, code: Code): Promise<Told['answer']> {
  const { random, plan, told, log } = world;
  const process = world.anyProcess();
  if (!process) return 'silence';
  const terms = { cents: random.pick([50, 50, 50, 30, 0]), thinking: random.between(0, plan.thinking) };
  const entry: Told = { code, answer: 'silence' };
  told.push(entry);
  try {
    const access = await process.ask(random.between(0, 20), () => process.exchange(code, terms));
    if (access !== 'silence') Object.assign(entry, { answer: 'granted', access });
  } catch (error) {
    entry.answer = answerTo(error);
  }
  world.see(`told ${entry.answer}`);
  log(process.actor.name, () => `tells "${entry.answer}" about ${code.cause}`);
  return entry.answer;
}

function pause(world: World, delay: number): Promise<void> {
  return world.schedule.sleep(delay, world.outside);
}

/** Tries until it hears of success, sometimes with two requests at once, and sometimes once more after that. */
async function client(world: World, code: Code): Promise<void> {
  const { random, plan } = world;
  await pause(world, random.between(0, plan.span * plan.arrivals));
  for (let n = 0; n < plan.tries; n += 1) {
    const racers = Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => exchange(world, code));
    const answers = await Promise.all(racers);
    const over = answers.some((answer) => ['granted', 'used', 'exhausted'].includes(answer));
    if (over && random.chance(0.7)) return;
    await pause(world, random.between(0, random.pick([100, plan.pause])));
  }
}

/** An operator's command, given again until it is answered, sometimes to two processes at once. */
async function command(world: World, run: (process: Process) => Promise<Moved>): Promise<void> {
  const { random, moved } = world;
  const once = async (): Promise<'answered' | 'silence'> => {
    const process = world.anyProcess();
    if (!process) return 'silence';
    try {
      const answer = await process.ask(random.between(0, 20), () => run(process));
      if (answer === 'silence') return answer;
      moved.push(answer.entry);
    } catch (error) {
      if (isUnavailable(error)) return 'silence';
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'service_unavailable') return 'silence';
    }
    return 'answered';
  };
  for (let n = 0; n < 4; n += 1) {
    const answers = await Promise.all(Array.from({ length: random.pick([1, 2, 3]) }, once));
    if (!answers.includes('silence') && random.chance(0.7)) return;
    await pause(world, random.pick([random.between(0, 200), random.between(0, 10_000)]));
  }
}

async function operator(world: World, n: number): Promise<void> {
  const { random, plan, database } = world;
  await pause(world, random.between(0, plan.span * random.pick([0.4, 1.5])));
  const walletId = random.some(world.walletIds) ?? '';
  const memo = { reference: `reference ${n}`, reason: 'asked for', actor: 'opr_1' };
  const amount = random.int(1, 400);
  switch (random.pick(['fund', 'fund', 'adjust', 'refund', 'refund'])) {
    case 'fund':
      return command(world, (process) => process.fund(walletId, amount, memo));
    case 'adjust': {
      const correction = random.chance(0.5) ? amount : opposite(amount);
      return command(world, (process) => process.adjust(walletId, correction, memo));
    }
    default: {
      const charges = [...database.ledger.values()].filter(({ kind }) => isBillable(kind));
      const charge = random.some(charges.slice(-3));
      if (charge) await command(world, (process) => process.refund(charge._id, memo));
    }
  }
}

/** The first money of a wallet. */
async function open(world: World, walletId: string): Promise<void> {
  const memo = { reference: 'opening', actor: 'opr_1' };
  await command(world, (process) => process.fund(walletId, world.plan.funds, memo));
}

/** Postings of somebody who knows the wallet as it is now. */
function postings(world: World, walletId: string, count: number): Posting[] {
  const { schedule, random, database } = world;
  const at = new Date(schedule.now());
  const deadline = new Date(at.getTime() + 10_000);
  const basis = database.wallets.get(walletId)?.settled ?? 0;
  const name = `crowd_${random.int(0, 1e9)}`;
  return Array.from({ length: count }, (_, n) => {
    const kind = 'funding' as const;
    return { id: `${name}_${n}`, kind, amount: 1, counted: false, basis, at, deadline, memo: null };
  });
}

/** A neighbour that moves, writes and releases about a hundred small sums in three calls. */
async function crowd(world: World): Promise<void> {
  const { random, plan, database, outside } = world;
  const { wallets, ledger } = database.connect(outside);
  await pause(world, random.between(0, plan.span * 0.8));
  for (let n = 0; n < 2; n += 1) {
    const walletId = random.some(world.walletIds) ?? '';
    const batch = postings(world, walletId, random.int(129, 140));
    try {
      const [state] = (await wallets.apply([{ walletId, settled: [], postings: batch }])).values();
      const holds = state?.holds ?? [];
      await pause(world, random.pick([0, 0, 600]));
      await ledger.append(holds.map((hold) => entryOf(walletId, hold)));
      await wallets.apply([{ walletId, settled: holds.map(({ id }) => id), postings: [] }]);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
    }
  }
}

/** A process holds money for many charges, and is never heard of again. */
async function deadCharges(world: World): Promise<void> {
  const { plan, database, outside } = world;
  if (plan.dead === 0) return;
  const { wallets } = database.connect(outside);
  const [walletId = ''] = world.walletIds;
  const batch = postings(world, walletId, plan.dead).map(
    (posting) => ({ ...posting, kind: 'token', counted: true, amount: -1 }) as const,
  );
  await wallets.apply([{ walletId, settled: [], postings: batch }]).catch(() => undefined);
}

async function freeze(world: World): Promise<void> {
  const { random, plan, schedule, log } = world;
  await pause(world, random.between(0, plan.span));
  const actor = world.anyProcess()?.actor;
  if (!actor) return;
  log(actor.name, () => 'freezes');
  actor.frozenUntil = schedule.now() + random.pick([500, 3_000, 20_000]);
}

async function sweep(world: World): Promise<void> {
  const { random, plan } = world;
  await pause(world, random.between(0, plan.span * 1.3));
  const process = world.anyProcess();
  await process?.ask(0, process.sweep).catch((error: unknown) => {
    if (!isUnavailable(error)) throw error;
  });
}

const times = (count: number, run: (n: number) => Promise<void>) =>
  Array.from({ length: count }, (_, n) => run(n));

/** Sets all of a plan's actors going; resolves when the last of them is done. */
export async function startTraffic(world: World): Promise<void> {
  const { plan } = world;
  await Promise.all([
    Promise.all(world.walletIds.map((id) => open(world, id))).then(() => deadCharges(world)),
    ...world.codes.map((code) => client(world, code)),
    ...times(plan.operations, (n) => operator(world, n)),
    ...times(plan.crowds, () => crowd(world)),
    ...times(plan.freezes, () => freeze(world)),
    ...times(plan.sweeps, () => sweep(world)),
  ]);
}
