import { setTimeout as sleep } from 'node:timers/promises';
import { sha256 } from '../../../server/platform/ids.ts';
import { exchangeAll } from './clients.ts';
import type { Code } from './codes.ts';
import type { Environment } from './environment.ts';
import { checkFlows, isSettled, sessionOfCode } from './flow-findings.ts';
import { inject } from './injection.ts';
import type { MessagePoint } from './message-points.ts';
import type { Attempt } from './money-run.ts';
import { createPartner, type Partner } from './partner.ts';
import { afterwards, eventually, firstOf, retry } from './retry.ts';
import { completeFlow, type FlowResult } from './users.ts';
import { checkWebhooks, isFinished } from './webhook-findings.ts';

/** The result of a run of flows. All numbers except `flows`, `tokens`, `events` and `lostAnswers` should be 0. */
export type FlowFindings = Record<
  | 'flows'
  | 'tokens'
  | 'events'
  | 'lostAnswers'
  | 'lostCodes'
  | 'doubled'
  | 'orphans'
  | 'lost'
  | 'altered'
  | 'invented',
  number
> & { other: string[] };

/** The users of a run. Two browsers have the same user, almost simultaneously. */
const people = ['new-adult', 'adult', 'new-adult', 'adult', 'new-adult', 'adult', 'biometric'] as const;
/** Each `new-adult` is a different user. */
const differentPeople = 3 + new Set(people).size - 1;
const funds = 50_000;
/** The time in which browsers start, in milliseconds. */
const spread = 150;
const backgroundWaitMs = 700;
const sweepEveryMs = 100;
const longestSettlingMs = 25_000;

/** Returns the codes with their sessions. Leaves out a code without a session. */
export async function codesOf(
  { db }: Pick<Environment, 'db'>,
  flowResults: readonly FlowResult[],
): Promise<Code[]> {
  const found = await Promise.all(
    flowResults.map(async ({ code, codeVerifier }) => {
      const sessionId = code === undefined ? undefined : await retry(() => sessionOfCode(db, sha256(code)));
      return code === undefined || sessionId === undefined
        ? []
        : [{ code, codeVerifier, sessionId, returning: false }];
    }),
  );
  return found.flat();
}

/** Describes the tokens whose claims differ from those that the users consented to. */
export async function claimFaults(publicUrl: string, tokens: readonly string[]): Promise<string[]> {
  const wrong = await Promise.all(
    tokens.map(async (token) => {
      const headers = { authorization: `Bearer ${token}` };
      const response = await retry(() => fetch(`${publicUrl}/api/oauth/userinfo`, { headers }));
      const text = await response.text();
      return response.status === 200 && text.includes('"age_18_plus":true')
        ? []
        : [`userinfo answers ${response.status} ${text}`];
    }),
  );
  return wrong.flat();
}

type Endpoint = ReturnType<Environment['worker']['receiver']['open']>;

/** Sweeps until every event has arrived and no work is left to a sweep. @returns faults as text */
export async function settle(
  environment: Environment,
  partner: Partner,
  endpoint: Endpoint,
): Promise<string[]> {
  const { db } = environment;
  const isDone = async () =>
    (await isFinished(db, partner, endpoint.arrived())) && (await isSettled(db, partner));
  const settled = await eventually(async () => {
    await environment.sweep();
    await sleep(sweepEveryMs);
    return retry(isDone);
  }, longestSettlingMs);
  return settled ? [] : [`something is left over after ${longestSettlingMs} ms of sweeps`];
}

/** A user with a token. */
export interface Passed {
  person: string;
  sessionId: string;
  token: string;
}

/** Completes flows and exchanges their codes, without a fault. @throws if one of them ends without a token */
export async function passAll(
  environment: Environment,
  partner: Partner,
  persons: readonly string[],
): Promise<Passed[]> {
  const { publicUrls } = environment;
  const [publicUrl = ''] = publicUrls;
  const flowResults = await Promise.all(
    persons.map((person) => completeFlow({ publicUrl, partner, person, delay: 0 })),
  );
  const codes = await codesOf(environment, flowResults);
  const outcomes = await exchangeAll({ publicUrls, partner }, codes, { clients: 1, spread: 0 });
  return persons.map((person, n) => {
    const { code, token } = outcomes[n] ?? {};
    if (!code || token === undefined)
      throw new Error(`${person}: ${flowResults.flatMap(({ faults }) => faults)}`);
    return { person, sessionId: code.sessionId, token };
  });
}

/**
 * Does one run: a new partner, several concurrent users and one fault. After the flows, exchanges the codes and checks the
 * records.
 * @returns undefined if the fault did not occur, so that the run does not count
 */
export async function runFlows(
  environment: Environment,
  { point: { fault }, hit }: Attempt<MessagePoint>,
): Promise<FlowFindings | undefined> {
  const { db, worker, publicUrls } = environment;
  const [publicUrl = ''] = publicUrls;
  const since = new Date();
  const endpoint = worker.receiver.open(0);
  const partner = await createPartner(environment, { funds, webhook: endpoint.url });
  const injected = await inject(fault, environment, hit);
  const work = Promise.all(
    people.map((person) => completeFlow({ publicUrl, partner, person, delay: Math.random() * spread })),
  );
  await firstOf(injected.fired, afterwards(work, backgroundWaitMs));
  const fired = injected.hasFired();
  await injected.recover();
  const flowResults = await work;
  worker.proxy.disarm();
  await environment.sweep();
  await injected.release();

  const codes = await codesOf(environment, flowResults);
  const outcomes = await exchangeAll({ publicUrls, partner }, codes, { clients: 1, spread: 0 });
  const tokens = outcomes.flatMap(({ token }) => token ?? []);
  const other = await settle(environment, partner, endpoint);
  const [left, events] = await retry(() =>
    Promise.all([
      checkFlows(db, partner, { since, flows: people.length, people: differentPeople }),
      checkWebhooks(db, partner, endpoint.arrived()),
    ]),
  );
  if (!fired) return undefined;
  return {
    flows: flowResults.filter(({ code }) => code !== undefined).length,
    tokens: tokens.length,
    events: events.events,
    lostAnswers: flowResults.reduce((sum, { unanswered }) => sum + unanswered, 0),
    lostCodes: people.length - tokens.length,
    doubled: left.doubled,
    orphans: left.orphans,
    lost: events.lost,
    altered: events.altered,
    invented: events.invented,
    other: [
      ...other,
      ...left.other,
      ...events.other,
      ...[...flowResults, ...outcomes].flatMap(({ faults }) => faults),
      ...outcomes.flatMap(({ refusal }) => (refusal ? [`exchange: ${refusal.description}`] : [])),
      ...(await claimFaults(publicUrl, tokens)),
    ],
  };
}
