import { startOurs } from '../contenders/ours.ts';
import type { DatabaseServer } from '../database.ts';
import { type Load, startLoad } from '../load/load.ts';
import { checkCharges } from './charges.ts';
import { capPerMinute, type Partners, partnerCount, setCaps } from './partners.ts';
import { callers, createPasses, type Noise, type Pass, type Traffic } from './passes.ts';
import { type FairnessId, type FairnessRow, rowOf } from './rows.ts';

/** Seconds in which the quiet partner sends at a time, and the number of times in each round. */
interface Volume {
  seconds: number;
  warmUp: number;
  /** The compared lines have many short passes, so that other load of the machine affects them alike. */
  turns: number;
}

const whole: Volume = { seconds: 2.5, warmUp: 1, turns: 2 };
const small: Volume = { seconds: 0.5, warmUp: 0.2, turns: 1 };

/**
 * Far below the machine's capacity, and no multiple of the noisy partner's rate, so that the two do not stay in step.
 */
const quietPerSecond = 53;
/** The number of warm-up requests, which about equals the number of measured ones. */
const mostPerSecond = 500;
const timesCap = 10;
const noisyPerSecond = (timesCap * capPerMinute) / 60;

interface Line {
  id: FairnessId;
  title: string;
  traffic: Traffic;
  turns: number;
}

/** The lines of the table, in the order in which they are measured. */
function linesOf({ seconds, turns }: Volume, { noisy }: Partners): Line[] {
  const line = (id: FairnessId, title: string, noise?: Noise): Line => ({
    id,
    title,
    traffic: { seconds, perSecond: quietPerSecond, noise },
    turns: noise && noise.perSecond === undefined ? 1 : turns,
  });
  const { spend, requests } = noisy;
  const perSecond = noisyPerSecond;
  const paced = `beside noisy at ${timesCap} times its`;
  const fast = `as fast as ${callers} callers are answered`;
  return [
    line('alone', 'alone'),
    line('spend', `${paced} spend cap`, { from: spend, perSecond }),
    line('requests', `${paced} request limit`, { from: requests, perSecond }),
    line('spend-flood', `beside noisy at its spend cap, ${fast}`, { from: spend }),
    line('requests-flood', `beside noisy at its request limit, ${fast}`, { from: requests }),
  ];
}

interface Context {
  database: DatabaseServer;
  load: Load;
  rounds: number;
  smoke: boolean;
  progress: (text: string) => void;
}

/**
 * Measures how a partner at its cap affects another one at the same server process: alone and beside it, in turn.
 * @throws if a partner was charged for more or less than was granted, or a noisy partner above its cap
 */
export async function measureFairness(context: Context): Promise<FairnessRow[]> {
  const { database, load, rounds, smoke, progress } = context;
  const volume = smoke ? small : whole;
  const ours = await startOurs({ database, load, name: 'fairness', processes: [1], partnerCount });
  const [contender] = ours.contenders;
  if (!contender) throw new Error('no server to be fair');
  const partners = await setCaps(ours.admin, ours.owners);
  const { quiet, noisy } = partners;
  const db = database.db('fairness');
  const loads = { quiet: load, noisy: startLoad() };
  const passes = createPasses({ db, contender, quiet, loads });

  for (const from of Object.values(noisy)) {
    await passes.run({ seconds: volume.warmUp, perSecond: mostPerSecond, noise: { from } });
  }
  const lines = linesOf(volume, partners);
  const measured = new Map<FairnessId, Pass[]>();
  for (let round = 1; round <= rounds; round += 1) {
    for (let turn = 1; turn <= volume.turns; turn += 1) {
      for (const { id, traffic } of lines.filter(({ turns }) => turn <= turns)) {
        const pass = await passes.run(traffic);
        measured.set(id, [...(measured.get(id) ?? []), pass]);
        const { p50, p99 } = pass.quiet;
        progress(`round ${round}  fairness  ${id}  p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
      }
    }
    await passes.settle();
  }
  await checkCharges(db, partners, passes.granted);
  await Promise.all([ours.stop(), loads.noisy.stop()]);
  return lines.map((line) => rowOf(line, measured.get(line.id) ?? []));
}
