import { startOurs } from '../contenders/ours.ts';
import type { DatabaseServer } from '../database.ts';
import type { Load } from '../load/load.ts';
import type { Options } from '../options.ts';
import { pause } from '../processes.ts';

/** Measures one server process above its capacity, and after a database outage. */
export interface OverloadFigures {
  /** Exchanges per second with 64 callers. */
  capacity: number;
  /** The same with 768 callers, who repeat 30 ms after a 503. */
  goodput: number;
  /** Answers 503 to them. */
  shed: number;
  /** Seconds from the end of a database outage to 70 % of the capacity; undefined if the database cannot be stopped. */
  recoverySeconds: number | undefined;
}

interface Context extends Pick<Options, 'seconds' | 'smoke'> {
  database: DatabaseServer;
  load: Load;
  progress: (text: string) => void;
}

const callers = 64;
/** Three times the most requests that a process handles at once. */
const tooMany = 768;
const retryMs = 30;
const toWarmUp = 2_000;
/** Logs are off, because thousands of 503 would each be a line during an outage. */
const quiet = { SVC_LOG_LEVEL: 'fatal' };
/** Seconds. */
const beforeOutage = 3;
const outage = 15;
const afterOutage = 12;
const enough = 0.7;
const tenthsInSecond = 10;

/** Seconds after tenth `from` until a whole second has `wanted` answers. */
function secondsUntil(wanted: number, tenths: readonly number[], from: number): number {
  for (let at = from; at + tenthsInSecond <= tenths.length; at += 1) {
    const inSecond = tenths.slice(at, at + tenthsInSecond).reduce((sum, count) => sum + count, 0);
    if (inSecond >= wanted) return (at - from) / tenthsInSecond;
  }
  return Number.POSITIVE_INFINITY;
}

/** @throws if the ledger does not have one charge for each exchanged code */
export async function measureOverload(context: Context): Promise<OverloadFigures> {
  const { database, load, seconds, smoke, progress } = context;
  const ours = await startOurs({
    database,
    load,
    name: 'overload',
    processes: [1],
    partnerCount: 0,
    environment: quiet,
  });
  const [contender] = ours.contenders;
  if (!contender) throw new Error('no server');
  const { origins, tokenPath: path, prepareExchanges, settle } = contender;

  async function rateOf(count: number, inFlight: number) {
    const requests = await prepareExchanges(count, 'one');
    const result = await load.run({ origins, path, requests, callers: inFlight, retryMs });
    await settle(count);
    return { rate: count / result.seconds, shed: result.statuses['503'] ?? 0 };
  }

  async function recovery(pid: number, capacity: number): Promise<number> {
    const requests = await prepareExchanges(Math.round(capacity * (beforeOutage + afterOutage) * 1.2), 'one');
    const forSeconds = beforeOutage + outage + afterOutage;
    const running = load.run({ origins, path, requests, callers, retryMs, forSeconds, lost: 'already used' });
    await pause(beforeOutage * 1_000);
    process.kill(pid, 'SIGSTOP');
    await pause(outage * 1_000);
    process.kill(pid, 'SIGCONT');
    const { tenths, statuses } = await running;
    // An answer that the outage has lost is a charge, which the repeated request names.
    await settle((statuses['200'] ?? 0) + (statuses['400'] ?? 0));
    return secondsUntil(enough * capacity, tenths, (beforeOutage + outage) * tenthsInSecond);
  }

  await rateOf(smoke ? 200 : toWarmUp, callers);
  const { rate: capacity } = await rateOf(smoke ? 200 : toWarmUp * seconds, callers);
  progress(`overload  ${callers} callers  ${Math.round(capacity)}/s`);
  const { rate: goodput, shed } = await rateOf(Math.round(capacity * (smoke ? 1 : 2 * seconds)), tooMany);
  progress(`overload  ${tooMany} callers  ${Math.round(goodput)}/s, ${shed} answers 503`);
  const { pid } = database;
  const recoverySeconds = pid === undefined || smoke ? undefined : await recovery(pid, capacity);
  progress(`overload  recovery  ${recoverySeconds ?? 'not measured'}`);
  await ours.stop();
  return { capacity, goodput, shed, recoverySeconds };
}
