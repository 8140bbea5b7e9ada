import { createLane, type Lane } from './lane.ts';
import { moneyPoints } from './money-points.ts';
import { runMoney } from './money-run.ts';
import { holdsLeave } from './scene.ts';
import { openSite, type Site, type SiteSettings } from './site.ts';
import { webhookPoints } from './webhook-points.ts';
import { runWebhooks } from './webhook-run.ts';

/** What the runs of one point came to. */
export interface Row {
  part: 'money' | 'webhooks';
  point: string;
  /** How many were struck. */
  runs: number;
  /** Each figure added up over all runs. */
  figures: Record<string, number>;
  /** Whatever else is wrong, in words. */
  other: string[];
}

type Findings = { other: string[] } & Record<Exclude<string, 'other'>, number | string[]>;

interface Task {
  part: Row['part'];
  name: string;
  moments?: number | undefined;
  site: SiteSettings;
  run(site: Site, run: number, hit: number): Promise<Findings | undefined>;
}

/** Runs that are not struck are repeated, as often as this for each that is due. */
const patience = 4;

const money = moneyPoints.map(
  (point): Task => ({
    part: 'money',
    name: point.name,
    moments: point.moments,
    site: { proxied: 'interferes' in point.strike },
    run: async (site, run, hit) => {
      const findings = await runMoney(site, { point, run, hit });
      return findings && { ...findings };
    },
  }),
);

const webhooks = webhookPoints.map(
  (point): Task => ({
    part: 'webhooks',
    name: point.name,
    moments: point.moments,
    site: { sendsNot: point.sendsNot === true },
    run: async (site, run, hit) => {
      const findings = await runWebhooks(site, { point, run, hit });
      return findings && { ...findings };
    },
  }),
);

function add(row: Row, { other, ...figures }: Findings): void {
  row.runs += 1;
  row.other.push(...other);
  for (const [name, value] of Object.entries(figures))
    row.figures[name] = (row.figures[name] ?? 0) + Number(value);
}

/** Strikes at a task's point until `runs` of its runs were struck. */
async function carryOut(task: Task, site: Site, runs: number): Promise<Row> {
  const { part, name: point, moments = 3 } = task;
  const row: Row = { part, point, runs: 0, figures: {}, other: [] };
  for (let tries = 0; row.runs < runs && tries < 3 + patience * runs; tries += 1) {
    const findings = await task.run(site, row.runs, tries > row.runs ? 1 : 1 + (row.runs % moments));
    if (findings) add(row, findings);
  }
  if (row.runs < runs) row.other.push(`its moment came in ${row.runs} of ${runs} runs only`);
  if (part === 'money' && !(await holdsLeave(site)))
    row.other.push('holds that are settled stay in a wallet');
  return row;
}

/** Takes tasks as long as there are any, on one site for as long as they need the same. */
async function work(lane: Lane, tasks: Task[], { runs, done }: { runs: number; done: (row: Row) => void }) {
  let site: Site | undefined;
  let settings = '';
  for (let task = tasks.shift(); task; task = tasks.shift()) {
    const wanted = JSON.stringify(task.site);
    if (site && wanted !== settings) {
      await site.close();
      site = undefined;
    }
    settings = wanted;
    try {
      site ??= await openSite(lane, task.site);
      done(await carryOut(task, site, runs));
    } catch (error) {
      done({ part: task.part, point: task.name, runs: 0, figures: {}, other: [String(error)] });
      await site?.close();
      site = undefined;
    }
  }
  await site?.close();
}

interface SuiteSettings {
  /** Of each point. */
  runs: number;
  /** How many are under way at once. */
  lanes: number;
  /** Only points with this in their name, which begins with `money: ` or `webhooks: `. */
  only?: string;
  /** Only one point in so many: of two sides of a step, one. */
  every?: number;
  /** Told of each point as it is done. */
  progress?: (row: Row) => void;
}

const titleOf = ({ part, name }: Task) => `${part}: ${name}`;

/** The points with `only` in their name, which begins with `money: ` or `webhooks: `. */
export const pointNames = (only: string): string[] =>
  [...money, ...webhooks].map(titleOf).filter((title) => title.includes(only));

/** Strikes at every point. @returns a row a point, in the order of the points */
export async function runSuite(settings: SuiteSettings): Promise<Row[]> {
  const { runs, lanes, only = '', every = 1, progress } = settings;
  const some = (tasks: readonly Task[]) => tasks.filter((_, place) => place % every === 0);
  const chosen = [...some(money), ...some(webhooks)].filter((task) => titleOf(task).includes(only));
  const rows: Row[] = [];
  const open = await Promise.all(Array.from({ length: lanes }, createLane));
  const tasks = [...chosen];
  const done = (row: Row) => {
    rows.push(row);
    progress?.(row);
  };
  try {
    await Promise.all(open.map((lane) => work(lane, tasks, { runs, done })));
  } finally {
    await Promise.all(open.map((lane) => lane.close()));
  }
  const place = ({ part, point }: Row) =>
    chosen.findIndex((task) => task.part === part && task.name === point);
  return rows.sort((one, other) => place(one) - place(other));
}
