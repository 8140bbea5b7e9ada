import type { Db, Document } from 'mongodb';
import { distinctStatements, planFaults, type SentCommand } from '../../harness/statements.ts';

/** The cost of one query. */
export interface Cost {
  name: string;
  /** The time from the query to its answer in milliseconds: of the first run, and the median of later runs. */
  first: number;
  median: number;
  /** The number of commands from the server to the database. */
  commands: number;
  /** The index entries and the documents that are read by the statement that reads most. */
  keys: number;
  documents: number;
  /** The statements that read or sort a whole collection. */
  faults: string[];
}

const rounds = 5;

interface Statistics {
  totalKeysExamined?: number;
  totalDocsExamined?: number;
}

/** Returns the figures of an explained statement. In an aggregation, they are one level deeper. */
function statisticsOf(plan: Document): Statistics {
  const [cursor] = (plan['stages'] as Document[] | undefined) ?? [];
  return (plan['executionStats'] ?? cursor?.['$cursor']?.['executionStats'] ?? {}) as Statistics;
}

/** Repeats a query, and has the database explain its statements. `sent` records the commands. */
export async function costOf(
  name: string,
  ask: () => Promise<unknown>,
  { db, sent }: { db: Db; sent: SentCommand[] },
): Promise<Cost> {
  const times: number[] = [];
  sent.length = 0;
  let commands: SentCommand[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const since = performance.now();
    await ask();
    times.push(performance.now() - since);
    if (round === 0) commands = [...sent];
  }
  const cost: Cost = {
    name,
    first: times[0] ?? 0,
    median: times.slice(1).sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0,
    commands: commands.length,
    ...{ keys: 0, documents: 0, faults: [] },
  };
  for (const [shape, statement] of distinctStatements(commands)) {
    const plan = await db.command({ explain: statement, verbosity: 'executionStats' });
    const { totalKeysExamined = 0, totalDocsExamined = 0 } = statisticsOf(plan);
    cost.keys = Math.max(cost.keys, totalKeysExamined);
    cost.documents = Math.max(cost.documents, totalDocsExamined);
    const faults = (await planFaults(db, statement)).filter((fault) => fault !== 'SORT');
    cost.faults.push(...faults.map((fault) => `${fault}: ${shape}`));
  }
  return cost;
}

const columns = ['first ms', 'median ms', 'commands', 'keys', 'documents'];

/** Renders the costs as a table for a terminal, the slowest query first. */
export function table(costs: readonly Cost[]): string {
  const width = Math.max(...costs.map(({ name }) => name.length));
  const line = (name: string, cells: readonly string[]) =>
    `${name.padEnd(width)} ${cells.map((cell) => cell.padStart(10)).join(' ')}`;
  const rows = [...costs]
    .sort((a, b) => b.median - a.median)
    .map(({ name, first, median, commands, keys, documents }) =>
      line(name, [first.toFixed(1), median.toFixed(1), ...[commands, keys, documents].map(String)]),
    );
  return [line('query', columns), ...rows].join('\n');
}
