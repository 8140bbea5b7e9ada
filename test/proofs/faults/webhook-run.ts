import { setTimeout as sleep } from 'node:timers/promises';
import { exchangeAll } from './clients.ts';
import { createCodes } from './codes.ts';
import type { Environment } from './environment.ts';
import { type Fault, type InjectedFault, inject, injectedFault } from './injection.ts';
import type { Attempt } from './money-run.ts';
import { createPartner } from './partner.ts';
import { afterwards, eventually, firstOf, retry } from './retry.ts';
import { checkWebhooks, isFinished, type WebhookFindings } from './webhook-findings.ts';

/** One fault during the delivery of events. */
export interface WebhookPoint {
  name: string;
  /** The fault. `drops`: the collection of the scheduler is dropped when it contains a job. */
  fault: Fault | { drops: 'jobs' };
  /** The number of first POSTs of each event that get a 500. */
  refused?: number;
  /** Whether another process, and not the server, sends webhooks. */
  sendsNot?: true;
  /** The number of times that every run reaches the point. The default is 3. */
  moments?: number;
}

const codesARun = 6;
/** Milliseconds. */
const spread = 60;
const longestPost = 3_000;
const longestWait = 6_000;
const longestDelivery = 25_000;
const sweepEvery = 100;

function dropJobs({ db }: Environment): InjectedFault {
  const jobs = db.collection('jobs');
  const dropped = eventually(async () => (await jobs.countDocuments()) > 0 && jobs.drop(), longestWait);
  return injectedFault(
    dropped.then((done) => {
      if (!done) throw new Error('there were no jobs');
    }),
    {},
  );
}

/**
 * Does one run: a new partner with sessions, enrollments and exchanges that have events to publish, and one fault.
 * @returns undefined if the fault did not occur, so that the run does not count
 */
export async function runWebhooks(
  environment: Environment,
  { point, hit }: Attempt<WebhookPoint>,
): Promise<WebhookFindings | undefined> {
  const { fault, refused = 0 } = point;
  const endpoint = environment.worker.receiver.open(refused);
  const partner = await createPartner(environment, { funds: 10_000, webhook: endpoint.url });
  const codes = await createCodes(environment.db, partner, { count: codesARun, unpublished: true });
  const injected = 'drops' in fault ? dropJobs(environment) : await inject(fault, environment, hit);

  const publishing = environment.sweep().catch(() => undefined);
  const work = exchangeAll({ publicUrls: environment.publicUrls, partner }, codes, { clients: 1, spread });
  if ('kills' in fault && fault.kills === 'stopping server') {
    await eventually(async () => endpoint.arrived().size > 0, longestWait);
    environment.server().signal('SIGTERM');
  }
  await firstOf(injected.fired, afterwards(Promise.all([work, publishing]), longestPost));
  const fired = injected.hasFired();
  await injected.recover();
  const outcomes = await work;

  await eventually(async () => {
    await environment.sweep();
    await sleep(sweepEvery);
    return retry(() => isFinished(environment.db, partner, endpoint.arrived()));
  }, longestDelivery);
  const findings = await retry(() => checkWebhooks(environment.db, partner, endpoint.arrived()));
  findings.other.push(...outcomes.flatMap(({ faults }) => faults));
  return fired ? findings : undefined;
}
