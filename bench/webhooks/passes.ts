import type { Db } from 'mongodb';
import { type Contender, tokenRequest } from '../contenders/contender.ts';
import { insertCodes } from '../contenders/our-codes.ts';
import type { Owner } from '../contenders/our-partners.ts';
import type { Load } from '../load/load.ts';
import { cpuSeconds } from '../processes.ts';
import { type Count, count, type Lags } from './counting.ts';
import { makeDrafts, publishDue, readLags, waitForEnds } from './deliveries.ts';
import { type Arrival, type Behaviour, type Endpoints, pathOf } from './endpoints.ts';

interface Cpu {
  server: number;
  database: number;
}

/** The result of events that were sent together. Times are in milliseconds since the epoch. */
export interface Pass {
  /** The number of events by the path of their endpoint. */
  accepted: ReadonlyMap<string, number>;
  startedAt: number;
  /** The time to accept them; undefined if they were published before they were due. */
  seconds: number | undefined;
  arrivals: readonly Arrival[];
  lags: Lags;
  /** Processor time until the last delivery had ended. */
  cpuSeconds: Cpu;
  counted: Count;
}

/** Exchanges of returning users, each of which causes one event for its partner. */
export interface Traffic {
  /** The partners, by their number; in turn. */
  partners: readonly number[];
  events: number;
  callers: number;
  /** The rate of exchanges; by default as fast as callers get answers. */
  perSecond?: number | undefined;
}

interface Settings {
  db: Db;
  databasePid: number | undefined;
  load: Load;
  contender: Contender;
  /** The nth partner has the nth endpoint. */
  owners: readonly Owner[];
  endpoints: Endpoints;
  behaviourOf: (n: number) => Behaviour;
}

/**
 * Sends events through our server and waits for their ends. Endpoints without answers recover when the last event is
 * accepted.
 */
export function createPasses(settings: Settings) {
  const { db, databasePid, load, contender, owners, endpoints, behaviourOf } = settings;
  const { origins, pids, tokenPath: path } = contender;
  const behaviours = owners.map((_, n) => behaviourOf(n));
  const failing = new Set(behaviours.flatMap((each, n) => (each === 'fails' ? pathOf(n) : [])));
  let sent = 0;

  const ownersOf = (partners: readonly number[]) => partners.flatMap((n) => owners[n] ?? []);

  const cpuNow = (): Cpu => ({
    server: cpuSeconds(pids),
    database: cpuSeconds(databasePid === undefined ? [] : [databasePid]),
  });

  async function conclude(
    { partners, events }: Pick<Traffic, 'partners' | 'events'>,
    { startedAt, seconds, cpu }: Pick<Pass, 'startedAt' | 'seconds'> & { cpu: Cpu },
  ): Promise<Pass> {
    sent += events;
    await waitForEnds(db, sent);
    const { server, database } = cpuNow();
    const [arrivals, lags] = await Promise.all([endpoints.take(), readLags(db)]);
    const accepted = new Map<string, number>();
    for (let n = 0; n < events; n += 1) {
      const of = pathOf(partners[n % partners.length] ?? 0);
      accepted.set(of, (accepted.get(of) ?? 0) + 1);
    }
    return {
      ...{ accepted, startedAt, seconds, arrivals, lags },
      cpuSeconds: { server: server - cpu.server, database: database - cpu.database },
      counted: count(arrivals, accepted, failing),
    };
  }

  return {
    async exchange({ partners, events, callers, perSecond }: Traffic): Promise<Pass> {
      const codes = await insertCodes(db, { count: events, owners: ownersOf(partners), returning: true });
      const requests = codes.map(({ code, owner }) => tokenRequest(owner, code));
      await endpoints.behave(behaviours);
      const cpu = cpuNow();
      const startedAt = Date.now();
      const { seconds } = await load.run({ origins, path, requests, callers, perSecond });
      await endpoints.behave(behaviours.map((each) => (each === 'hangs' ? 'accepts' : each)));
      const pass = await conclude({ partners, events }, { startedAt, seconds, cpu });
      await contender.settle(events);
      return pass;
    },

    /** Events for all endpoints, all of which accept. The events become due together in `ahead` milliseconds. */
    async drain({ events, ahead }: { events: number; ahead: number }): Promise<Pass> {
      await endpoints.behave([]);
      const dueAt = new Date(Date.now() + ahead);
      const begins = await publishDue(db, makeDrafts(events, owners, dueAt), dueAt);
      const cpu = cpuNow();
      const start = { startedAt: begins.getTime(), seconds: undefined, cpu };
      return conclude({ partners: [...owners.keys()], events }, start);
    },
  };
}
