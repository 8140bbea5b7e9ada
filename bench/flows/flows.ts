import { commandsSoFar, idleCommands } from '../commands.ts';
import type { DatabaseServer } from '../database.ts';
import { cpuSeconds, pause } from '../processes.ts';
import { type FlowClient, startFlowClient } from './client.ts';
import type { FlowContext } from './context.ts';
import { measureJourneys } from './journeys.ts';
import { type FlowFigures, type FlowMeasurement, type FlowRow, medianOfFlows } from './rows.ts';
import { type FlowSubject, returningUsersOf, startSubjects, type Users } from './subjects.ts';

interface FlowCase {
  id: string;
  title: string;
  users: Users;
  callers: number;
}

const numbers = [1, 8, 32, 64] as const;
const inSmoke = { callers: [1, 8], flows: 8 } as const;
/** The smallest number of flows of a round, and the number in each case's first round, which does not count. */
const fewest = 40;
const toWarmUp = 100;
/** Milliseconds. */
const rest = 250;

const casesOf = (smoke: boolean): FlowCase[] =>
  (['new', 'returning'] as const).flatMap((users) =>
    (smoke ? inSmoke.callers : numbers).map((callers) => ({
      id: `flows-${users}-${callers}`,
      title: `${users} users, ${callers} in flight`,
      users,
      callers,
    })),
  );

interface Round {
  database: DatabaseServer;
  client: FlowClient;
  /** Commands of a second without flows. */
  idle: number;
}

async function measureRound(
  { database, client, idle }: Round,
  subject: FlowSubject,
  { users, callers, count }: Pick<FlowCase, 'users' | 'callers'> & { count: number },
): Promise<FlowMeasurement> {
  const { origins, pids, tokenPath, userinfoPath } = subject;
  const [origin = ''] = origins;
  const db = database.db('flows');
  const databasePids = database.pid === undefined ? [] : [database.pid];
  await subject.forget();
  const flows = subject.flows(count, users);
  await pause(rest);
  const before = {
    commands: await commandsSoFar(db),
    server: cpuSeconds(pids),
    database: cpuSeconds(databasePids),
  };
  const {
    seconds,
    p50,
    p99,
    requests,
    cpuSeconds: ofClient,
  } = await client.run({
    ...{ origin, flows, callers, tokenPath, userinfoPath },
  });
  // The cost of a flow includes its background work.
  await pause(rest);
  const commands = (await commandsSoFar(db)) - before.commands;
  const perFlow = (cpu: number) => (cpu / count) * 1e6;
  return {
    rate: count / seconds,
    p50,
    p99,
    serverCpu: perFlow(cpuSeconds(pids) - before.server),
    databaseCpu: perFlow(cpuSeconds(databasePids) - before.database),
    loadCpu: perFlow(ofClient),
    commands: Math.max(0, commands - idle * (seconds + rest / 1000)) / count,
    requests: requests / count,
  };
}

async function compare(context: FlowContext, client: FlowClient): Promise<FlowRow[]> {
  const { database, rounds, seconds, smoke, progress } = context;
  const { subjects, stop } = await startSubjects(context);
  for (const subject of subjects) {
    // Returning users have completed a flow before, and every subject has compiled its pages.
    const first = { users: 'returning', callers: 8, count: returningUsersOf(smoke) } as const;
    await measureRound({ database, client, idle: 0 }, subject, first);
  }
  const idle = await idleCommands(database.db('flows'));
  const rows: FlowRow[] = [];
  for (const one of casesOf(smoke)) {
    const measured = new Map<string, FlowMeasurement[]>();
    const rates = new Map<string, number>();
    for (let round = smoke ? 1 : 0; round <= rounds; round += 1) {
      for (const subject of subjects) {
        const { name } = subject;
        const rate = rates.get(name);
        const aimed = rate === undefined ? toWarmUp : Math.max(fewest, Math.round(rate * seconds));
        const count = smoke ? inSmoke.flows : aimed;
        const result = await measureRound({ database, client, idle }, subject, { ...one, count });
        rates.set(name, result.rate);
        progress(
          `${round === 0 ? 'warm-up' : `round ${round}`}  ${one.id}  ${name}  ${result.rate.toFixed(1)}/s, ${result.commands.toFixed(1)} commands`,
        );
        if (round > 0) measured.set(name, [...(measured.get(name) ?? []), result]);
      }
    }
    const results = new Map([...measured].map(([name, each]) => [name, medianOfFlows(each)]));
    rows.push({ id: one.id, title: one.title, results });
  }
  await stop();
  return rows;
}

/** Flows of users through the hosted pages, ours and those of others; then whole journeys of ours with webhooks. */
export async function measureFlows(context: FlowContext): Promise<FlowFigures> {
  const client = startFlowClient();
  const rows = await compare(context, client);
  const journeys = await measureJourneys(context, client);
  await client.stop();
  return { rows, journeys };
}
