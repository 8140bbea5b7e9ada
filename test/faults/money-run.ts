import { setTimeout as sleep } from 'node:timers/promises';
import { buyAll } from './buyers.ts';
import type { MoneyFindings } from './judgement.ts';
import { afterwards, createGate, whichever } from './patience.ts';
import { deadlines, fundMore, judge, release, setScene } from './scene.ts';
import type { Site } from './site.ts';
import { prepare, type Strike } from './strike.ts';

/** One way to hurt the exchange. */
export interface MoneyPoint {
  name: string;
  strike: Strike;
  /** Whether it strikes the sweep that follows a crash, rather than the exchange. */
  during?: 'sweep';
  /** Sweeps go on while clients exchange codes, as another process's might. */
  swept?: 'meanwhile';
  /** Milliseconds within which clients begin; default 30. */
  spread?: number;
  /** How often its moment surely comes within a run; default 3. */
  moments?: number;
}

/** The `run`-th run of a point, struck at the `hit`-th time that its moment comes. */
export interface Attempt<Point> {
  point: Point;
  run: number;
  hit: number;
}

const racingClients = 2;
/** The holds of a run begin a little later than its clients. */
const usualSpread = 30;
/** Milliseconds in which what follows an answer has happened: settlement, and ids that leave the wallet. */
const aftermath = 1_500;
/** Leaves holds behind: a few with an access, most without. */
const crash: Strike = { kills: 'server', point: 'commit:before' };
const crashAt = 4;

async function sweepUntil(over: Promise<unknown>, site: Site): Promise<void> {
  let isOver = false;
  void whichever(over).then(() => {
    isOver = true;
  });
  while (!isOver) {
    await site.sweep(2);
    await sleep(50);
  }
}

/** Strikes while clients exchange codes; afterwards each has what is due to it. */
async function strikeExchange(site: Site, { point, run, hit }: Attempt<MoneyPoint>) {
  const scene = await setScene(site);
  const { partner, codes } = scene;
  const { strike, swept, spread = usualSpread } = point;
  const blow = await prepare(strike, site, hit);
  const buying = buyAll({ publicUrl: site.publicUrl, partner }, codes, { clients: racingClients, spread });
  const work = Promise.all([buying, fundMore(scene)]);
  if (swept) await sweepUntil(work, site);
  if ('kills' in strike && strike.kills === 'stopping server') {
    await sleep(Math.random() * spread);
    site.server().signal('SIGTERM');
  }
  await whichever(blow.struck, afterwards(work, aftermath));
  const struck = blow.hasStruck();
  await blow.recover();
  const [outcomes] = await work;
  await release(scene, strike, blow.release);
  site.lane.proxy.disarm();
  return struck ? judge(scene, outcomes, run) : undefined;
}

/** A crash first; then strikes the sweep that clears up after it, while the clients come back. */
async function strikeSweep(site: Site, { point, run, hit }: Attempt<MoneyPoint>) {
  const scene = await setScene(site);
  const { partner, codes } = scene;
  const { strike } = point;
  const death = await prepare(crash, site, crashAt);
  const gate = createGate();
  const wish = { publicUrl: site.publicUrl, partner, mayRetry: gate.opened };
  const buying = buyAll(wish, codes, { clients: racingClients, spread: 0 });
  const work = Promise.all([buying, fundMore(scene)]);
  await whichever(death.struck, afterwards(work, 0));
  await death.recover();
  const blow = await prepare(strike, site, hit);
  await deadlines(scene);
  const sweeping = site.sweep(1 + (run % 2)).catch(() => undefined);
  gate.open();
  await whichever(blow.struck, sweeping);
  const struck = blow.hasStruck();
  await blow.recover();
  const [outcomes] = await work;
  if ('interferes' in strike) await site.sweep();
  await release(scene, strike, blow.release);
  site.lane.proxy.disarm();
  return struck ? judge(scene, outcomes, run) : undefined;
}

/**
 * One run: a fresh partner, several codes with several clients each, one strike, and the books after it.
 * @returns undefined where the strike's moment did not come, so that the run says nothing
 */
export const runMoney = (site: Site, attempt: Attempt<MoneyPoint>): Promise<MoneyFindings | undefined> =>
  (attempt.point.during === 'sweep' ? strikeSweep : strikeExchange)(site, attempt);
