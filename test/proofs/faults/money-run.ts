import { setTimeout as sleep } from 'node:timers/promises';
import { exchangeAll } from './clients.ts';
import type { Environment } from './environment.ts';
import { type Fault, type InjectedFault, inject } from './injection.ts';
import type { Step } from './kill-points.ts';
import type { MoneyFindings } from './money-findings.ts';
import { afterwards, createGate, firstOf } from './retry.ts';
import {
  type Bound,
  clientsForEachCode,
  exchangeLater,
  findFaults,
  openScenario,
  operate,
  type Scenario,
  sweepAll,
} from './scenario.ts';

/** One fault of the exchange, an operator's command or the sweep. */
export interface MoneyPoint {
  name: string;
  fault: Fault;
  /** Whether the fault happens in the sweep after a crash, and not in the exchange. */
  during?: 'sweep';
  /** The number of servers. The default is 1. */
  servers?: number;
  /** The time in which clients start, in milliseconds. The default is 60. */
  spread?: number;
  /** The number of times that every run reaches the point. The default is 3. */
  moments?: number;
  /** Whether money and spend caps suffice in every run. By default they suffice in two of three runs. */
  unbounded?: true;
}

/** The `run`-th run of a point, with the fault at the `hit`-th occurrence. */
export interface Attempt<Point> {
  point: Point;
  run: number;
  hit: number;
}

const usualSpread = 60;
/** The time to wait for the outbox after an answer, in milliseconds. */
const backgroundWaitMs = 500;
/** A crash before the events of a page are published, so that a sweep has to publish them. */
const crash: Fault = { kills: 'server', point: 'event:before' };
/** What limits the exchanges of a run: nothing, the balance or a spend cap. It changes from run to run of a point. */
const bounds: readonly Bound[] = ['none', 'balance', 'cap'];

const boundOf = ({ point, run }: Attempt<MoneyPoint>): Bound =>
  point.unbounded ? 'none' : (bounds[run % bounds.length] ?? 'none');

/** The steps of the process that writes the wallet. */
const writing: readonly Step[] = ['take-over', 'page', 'event', 'unset'];

/**
 * Chooses the server that writes the wallet. The first server has the fault. It writes the wallet if the
 * fault is at a step of the writer; at `hand-over`, another server writes it.
 * @returns a function that tells whether a wallet is suitable; undefined if every wallet is
 */
async function chooseWriter(environment: Environment, { fault, servers = 1 }: MoneyPoint) {
  const { isWrittenByFirst, restartUntil } = environment;
  const step = 'point' in fault ? (fault.point.split(':')[0] as Step) : undefined;
  if (servers === 1 || step === undefined) return undefined;
  if (writing.includes(step)) {
    await restartUntil('writes wallets');
    return isWrittenByFirst;
  }
  await restartUntil('others write wallets');
  return async (walletId: string) => !(await isWrittenByFirst(walletId));
}

/** Releases the held messages of a fault at the time that the fault names. */
async function release(scenario: Scenario, fault: Fault, injected: InjectedFault): Promise<void> {
  if ('interferes' in fault && fault.release === 'after the sweep') await sweepAll(scenario, 1);
  await injected.release();
}

/** Lets the fault occur while clients exchange codes. Then each client retries until it gets a final answer. */
async function faultExchange(environment: Environment, attempt: Attempt<MoneyPoint>) {
  const { point, run, hit } = attempt;
  const accepts = await chooseWriter(environment, point);
  const scenario = await openScenario(environment, boundOf(attempt), accepts);
  const { partner, codes } = scenario;
  const { fault, spread = usualSpread } = point;
  if (environment.publicUrls.length > 1) await environment.refresh();
  const injected = await inject(fault, environment, hit);
  const exchanging = exchangeAll({ publicUrls: environment.publicUrls, partner }, codes, {
    clients: clientsForEachCode,
    spread,
  });
  const work = Promise.all([exchanging, operate(scenario)]);
  if ('kills' in fault && fault.kills === 'stopping server') {
    await sleep(Math.random() * spread);
    environment.server().signal('SIGTERM');
  }
  await firstOf(injected.fired, afterwards(work, backgroundWaitMs));
  const fired = injected.hasFired();
  await injected.recover();
  const [outcomes] = await work;
  environment.worker.proxy.disarm();
  await release(scenario, fault, injected);
  outcomes.push(...(await exchangeLater(scenario)));
  return fired ? findFaults(scenario, outcomes, run) : undefined;
}

/**
 * Crashes the first server, and lets the fault occur in the sweep that publishes its work. After the sweep, clients retry.
 */
async function faultSweep(environment: Environment, attempt: Attempt<MoneyPoint>) {
  const { point, run, hit } = attempt;
  const scenario = await openScenario(environment, boundOf(attempt));
  const { partner, codes } = scenario;
  const death = await inject(crash, environment, 1);
  const gate = createGate();
  const settings = { publicUrls: environment.publicUrls, partner, mayRetry: gate.opened };
  const exchanging = exchangeAll(settings, codes, { clients: clientsForEachCode, spread: usualSpread });
  const work = Promise.all([exchanging, operate(scenario)]);
  await firstOf(death.fired, afterwards(work, backgroundWaitMs));
  await death.recover();
  await sleep(500);
  const injected = await inject(point.fault, environment, hit);
  const sweeping = environment.sweep(1 + (run % 2)).catch(() => undefined);
  await firstOf(injected.fired, sweeping);
  const fired = injected.hasFired();
  gate.open();
  await injected.recover();
  const [outcomes] = await work;
  environment.worker.proxy.disarm();
  await release(scenario, point.fault, injected);
  outcomes.push(...(await exchangeLater(scenario)));
  return fired ? findFaults(scenario, outcomes, run) : undefined;
}

/**
 * Does one run: a new partner, several codes with several clients each, one fault, and a check of the ledger.
 * @returns undefined if the fault did not occur, so that the run does not count
 */
export const runMoney = (
  environment: Environment,
  attempt: Attempt<MoneyPoint>,
): Promise<MoneyFindings | undefined> =>
  (attempt.point.during === 'sweep' ? faultSweep : faultExchange)(environment, attempt);
