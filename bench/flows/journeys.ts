import { startOurs } from '../contenders/ours.ts';
import { cpuSeconds, pause } from '../processes.ts';
import { median } from '../statistics.ts';
import { type Endpoints, startEndpoints } from '../webhooks/endpoints.ts';
import type { FlowClient } from './client.ts';
import type { FlowContext } from './context.ts';
import type { JourneyRow } from './rows.ts';
import { ourFlows, partnersOf, returningUsersOf, type Users } from './subjects.ts';

const callers = 32;
const inSmoke = 8;
/** `verification.session.completed`, and `enrollment.created` or, for a returning user, `vae.resolved`. */
const eventsEach = 2;
const fewest = 40;
/** Milliseconds. */
const longestWait = 30_000;
const pollEvery = 20;

type Round = Omit<JourneyRow, 'title'>;

function rowOf(title: string, rounds: readonly Round[]): JourneyRow {
  const of = (key: keyof Round) => median(rounds.map((one) => one[key]));
  return {
    title,
    rate: of('rate'),
    p50: of('p50'),
    p99: of('p99'),
    serverCpu: of('serverCpu'),
    databaseCpu: of('databaseCpu'),
  };
}

/**
 * The time of the last of `count` events, in milliseconds since the epoch.
 * @throws if more or fewer arrive
 */
async function lastArrival(endpoints: Endpoints, events: number): Promise<number> {
  const came = new Set<string>();
  let last = 0;
  for (const deadline = Date.now() + longestWait; came.size < events; await pause(pollEvery)) {
    for (const { eventId, at } of await endpoints.take()) {
      came.add(eventId);
      last = Math.max(last, at);
    }
    if (Date.now() > deadline) throw new Error(`${came.size} of ${events} events came`);
  }
  if (came.size > events) throw new Error(`${came.size} events came, where ${events} were due`);
  return last;
}

/**
 * Whole journeys at one server process, which also sends the webhooks: hosted flow, exchange, userinfo, events.
 * @throws if a journey fails, an event is missing, or the ledger differs from the exchanges
 */
export async function measureJourneys(context: FlowContext, client: FlowClient): Promise<JourneyRow[]> {
  const { database, load, rounds, seconds, smoke, progress } = context;
  const endpoints = await startEndpoints();
  const ours = await startOurs({
    ...{ database, load, name: 'journeys', processes: [1], partnerCount: partnersOf(smoke) },
    webhook: endpoints.url,
    environment: { SVC_LOCALHOST_WEBHOOKS: 'on' },
  });
  const [contender] = ours.contenders;
  if (!contender) throw new Error('no server for journeys');
  const { origins, pids, tokenPath } = contender;
  const [origin = ''] = origins;
  const databasePids = database.pid === undefined ? [] : [database.pid];
  const flowsOf = ourFlows(ours.owners, true);

  async function run(users: Users, count: number): Promise<Round> {
    const flows = flowsOf(count, users);
    const before = { server: cpuSeconds(pids), database: cpuSeconds(databasePids) };
    const order = { origin, flows, callers, tokenPath, userinfoPath: contender?.userinfoPath ?? '' };
    const { startedAt, p50, p99 } = await client.run(order);
    const last = await lastArrival(endpoints, count * eventsEach);
    await contender?.settle(count);
    const perJourney = (cpu: number) => (cpu / count) * 1e6;
    return {
      rate: count / ((last - startedAt) / 1000),
      p50,
      p99,
      serverCpu: perJourney(cpuSeconds(pids) - before.server),
      databaseCpu: perJourney(cpuSeconds(databasePids) - before.database),
    };
  }

  const rows: JourneyRow[] = [];
  // Returning users have completed a flow before. This round does not count.
  let { rate } = await run('returning', returningUsersOf(smoke));
  for (const users of ['new', 'returning'] as const) {
    const measured: Round[] = [];
    for (let round = smoke ? 1 : 0; round <= rounds; round += 1) {
      const result = await run(users, smoke ? inSmoke : Math.max(fewest, Math.round(rate * seconds)));
      ({ rate } = result);
      progress(
        `${round === 0 ? 'warm-up' : `round ${round}`}  journeys  ${users} users  ${rate.toFixed(1)}/s`,
      );
      if (round > 0) measured.push(result);
    }
    rows.push(rowOf(`${users} users, ${callers} in flight`, measured));
  }
  await Promise.all([ours.stop(), endpoints.stop()]);
  return rows;
}
