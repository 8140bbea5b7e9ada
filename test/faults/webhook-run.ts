import { setTimeout as sleep } from 'node:timers/promises';
import { buyAll } from './buyers.ts';
import { createCodes } from './codes.ts';
import { isFinished, judgeWebhooks, type WebhookFindings } from './deliveries.ts';
import type { Attempt } from './money-run.ts';
import { createPartner } from './partner.ts';
import { afterwards, eventually, insist, whichever } from './patience.ts';
import type { Site } from './site.ts';
import { type Blow, blowOf, prepare, type Strike } from './strike.ts';

/** One way to hurt the delivery of events. */
export interface WebhookPoint {
  name: string;
  /** `drops`: the scheduler's collection goes as soon as something is in it. */
  strike: Strike | { drops: 'jobs' };
  /** The first so many POSTs of each event are answered with 500. */
  refused?: number;
  /** Whether the server that is struck leaves sending to another process beside it. */
  sendsNot?: true;
  /** How often its moment surely comes within a run; default 3. */
  moments?: number;
}

const codesARun = 6;
/** Milliseconds. */
const spread = 60;
const longestPost = 3_000;
const longestWait = 6_000;
const longestDelivery = 25_000;
const sweepEvery = 100;

function dropJobs({ db }: Site): Blow {
  const jobs = db.collection('jobs');
  const dropped = eventually(async () => (await jobs.countDocuments()) > 0 && jobs.drop(), longestWait);
  return blowOf(
    dropped.then((done) => {
      if (!done) throw new Error('there were no jobs');
    }),
    {},
  );
}

/**
 * One run: a fresh partner whose users' sessions, enrollments and exchanges owe events, and one strike.
 * @returns undefined where the strike's moment did not come, so that the run says nothing
 */
export async function runWebhooks(
  site: Site,
  { point, hit }: Attempt<WebhookPoint>,
): Promise<WebhookFindings | undefined> {
  const { strike, refused = 0 } = point;
  const endpoint = site.lane.receiver.open(refused);
  const partner = await createPartner(site, { funds: 10_000, webhook: endpoint.url });
  const codes = await createCodes(site.db, partner, { count: codesARun, owing: true });
  const blow = 'drops' in strike ? dropJobs(site) : await prepare(strike, site, hit);

  const publishing = site.sweep().catch(() => undefined);
  const work = buyAll({ publicUrl: site.publicUrl, partner }, codes, { clients: 1, spread });
  if ('kills' in strike && strike.kills === 'stopping server') {
    await eventually(async () => endpoint.arrived().size > 0, longestWait);
    site.server().signal('SIGTERM');
  }
  await whichever(blow.struck, afterwards(Promise.all([work, publishing]), longestPost));
  const struck = blow.hasStruck();
  await blow.recover();
  const outcomes = await work;

  await eventually(async () => {
    await site.sweep();
    await sleep(sweepEvery);
    return insist(() => isFinished(site.db, partner, endpoint.arrived()));
  }, longestDelivery);
  const findings = await insist(() => judgeWebhooks(site.db, partner, endpoint.arrived()));
  findings.other.push(...outcomes.flatMap(({ faults }) => faults));
  return struck ? findings : undefined;
}
