import type { Db } from 'mongodb';
import type { Case } from './cases.ts';
import { commandsSoFar } from './commands.ts';
import type { Contender } from './contenders/contender.ts';
import type { Load, LoadRequest } from './load/load.ts';
import { cpuSeconds, pause } from './processes.ts';
import { median } from './statistics.ts';

/** Requests per second, milliseconds, microseconds of processor time and database commands per request. */
export interface Measurement {
  rate: number;
  p50: number;
  p99: number;
  serverCpu: number;
  databaseCpu: number;
  loadCpu: number;
  commands: number;
}

/** Milliseconds in which prepared data can reach the disk. */
const rest = 250;
/** The number of uses of each token in a warm round. */
const repetitions = 3;

export function medianOf(measurements: readonly Measurement[]): Measurement {
  const of = (key: keyof Measurement) => median(measurements.map((one) => one[key]));
  return {
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    serverCpu: of('serverCpu'),
    databaseCpu: of('databaseCpu'),
    loadCpu: of('loadCpu'),
    commands: of('commands'),
  };
}

interface Settings {
  load: Load;
  databasePid: number | undefined;
  /** Any database of the server, to read its counters. */
  db: Db;
  /** Commands of a second without requests. */
  idle: number;
}

/** Measures one contender once with `count` requests, which are all prepared before the clock starts. */
export function createMeasure({ load, databasePid, db, idle }: Settings) {
  const database = databasePid === undefined ? [] : [databasePid];

  async function send(
    { origins, pids }: Contender,
    order: { path: string; requests: readonly LoadRequest[]; callers: number },
  ): Promise<Measurement> {
    await pause(rest);
    const before = {
      commands: await commandsSoFar(db),
      server: cpuSeconds(pids),
      database: cpuSeconds(database),
    };
    const { seconds, p50, p99, cpuSeconds: ofLoad } = await load.run({ origins, ...order });
    const count = order.requests.length;
    const perRequest = (cpu: number) => (cpu / count) * 1e6;
    const cpu = { server: cpuSeconds(pids), database: cpuSeconds(database) };
    const commands = (await commandsSoFar(db)) - before.commands - idle * seconds;
    return {
      rate: count / seconds,
      p50,
      p99,
      serverCpu: perRequest(cpu.server - before.server),
      databaseCpu: perRequest(cpu.database - before.database),
      loadCpu: perRequest(ofLoad),
      commands: Math.max(0, commands) / count,
    };
  }

  return {
    async exchange(
      contender: Contender,
      { callers, partnerSet }: Pick<Case, 'callers' | 'partnerSet'>,
      count: number,
    ): Promise<Measurement> {
      const requests = await contender.prepareExchanges(count, partnerSet);
      const measured = await send(contender, { path: contender.tokenPath, requests, callers });
      await contender.settle(count);
      return measured;
    },

    /** Cold: tokens that are new to the server. Warm: the same tokens again. */
    async userinfo(
      contender: Contender,
      { callers }: Pick<Case, 'callers'>,
      count: number,
    ): Promise<{ cold: Measurement; warm: Measurement }> {
      const { userinfoPath: path } = contender;
      if (path === undefined) throw new Error(`${contender.name} has no userinfo endpoint`);
      const requests = await contender.prepareUserinfo(count);
      const cold = await send(contender, { path, requests, callers });
      const again = Array.from({ length: repetitions }, () => requests).flat();
      return { cold, warm: await send(contender, { path, requests: again, callers }) };
    },
  };
}
export type Measure = ReturnType<typeof createMeasure>;
