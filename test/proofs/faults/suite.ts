import { type Environment, openEnvironment } from './environment.ts';
import { type Findings, type Part, partsOf, type Task } from './parts.ts';
import { createWorker, type Worker } from './worker.ts';

/** The result of the runs of one point. */
export interface Row {
  part: Part;
  point: string;
  /** The number of runs in which the fault occurred. */
  runs: number;
  /** The sum of each figure over all runs. */
  figures: Record<string, number>;
  /** Other faults as text. */
  other: string[];
}

interface Job {
  part: Part;
  task: Task;
  title: string;
}

/** The most tries for each required run. A run in which the fault did not occur is repeated. */
const mostTriesPerRun = 4;

const jobsOf = (servers?: number): Job[] =>
  partsOf(servers).flatMap((part) =>
    part.tasks.map((task) => ({ part, task, title: `${part.name}: ${task.name}` })),
  );

/** Returns the titles of the fault points. Each starts with the name of its part, such as `money: `. */
export const pointTitles = (servers?: number): string[] => jobsOf(servers).map(({ title }) => title);

function add(row: Row, { other, ...figures }: Findings): void {
  row.runs += 1;
  row.other.push(...other);
  for (const [name, value] of Object.entries({ ...figures, faults: 1 }))
    row.figures[name] = (row.figures[name] ?? 0) + Number(value);
}

/** Runs a point until its fault has occurred in `runs` runs. */
async function runJob({ part, task }: Job, environment: Environment, runs: number): Promise<Row> {
  const { name: point, moments = 3 } = task;
  const row: Row = { part, point, runs: 0, figures: {}, other: [] };
  for (let tries = 0; row.runs < runs && tries < 3 + mostTriesPerRun * runs; tries += 1) {
    const hit = tries > row.runs ? 1 : 1 + (row.runs % moments);
    const findings = await task.run(environment, row.runs, hit);
    if (findings) add(row, findings);
  }
  if (row.runs < runs) row.other.push(`the fault happened in ${row.runs} of ${runs} runs only`);
  row.other.push(...((await part.check?.(environment)) ?? []));
  return row;
}

interface Work {
  runs: number;
  done: (row: Row) => void;
}

/** Runs jobs until none is left. Keeps an environment as long as the next job needs the same. */
async function work(worker: Worker, queue: Job[], { runs, done }: Work): Promise<void> {
  let environment: Environment | undefined;
  let settings = '';
  for (let job = queue.shift(); job; job = queue.shift()) {
    const { part, task } = job;
    const wanted = JSON.stringify(task.environment);
    if (environment && wanted !== settings) {
      await environment.close();
      environment = undefined;
    }
    settings = wanted;
    try {
      environment ??= await openEnvironment(worker, task.environment);
      done(await runJob(job, environment, runs));
    } catch (error) {
      const other = [error instanceof Error ? (error.stack ?? error.message) : String(error)];
      done({ part, point: task.name, runs: 0, figures: {}, other });
      await environment?.close();
      environment = undefined;
    }
  }
  await environment?.close();
}

interface SuiteSettings {
  /** The number of runs of each point. */
  runs: number;
  /** The number of simultaneous points. */
  workers: number;
  isChosen: (title: string) => boolean;
  /** Selects only points with this number of servers; by default every point, with its own number. */
  servers?: number | undefined;
  /** Called with each completed point. */
  progress?: (row: Row) => void;
}

/** Runs the chosen fault points. @returns a row for each, in the order of the points */
export async function runSuite({
  runs,
  workers,
  isChosen,
  servers,
  progress,
}: SuiteSettings): Promise<Row[]> {
  const chosen = jobsOf(servers).filter(({ title }) => isChosen(title));
  const rows: Row[] = [];
  const open = await Promise.all(Array.from({ length: workers }, createWorker));
  const settingsOf = ({ task }: Job) => JSON.stringify(task.environment);
  // Points with the same environment run one after another.
  const queue = chosen.toSorted((one, other) => settingsOf(one).localeCompare(settingsOf(other)));
  const done = (row: Row) => {
    rows.push(row);
    progress?.(row);
  };
  try {
    await Promise.all(open.map((worker) => work(worker, queue, { runs, done })));
  } finally {
    await Promise.all(open.map((worker) => worker.close()));
  }
  const position = ({ part, point }: Row) =>
    chosen.findIndex((job) => job.part === part && job.task.name === point);
  return rows.sort((one, other) => position(one) - position(other));
}
