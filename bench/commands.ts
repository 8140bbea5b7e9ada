import type { Db, Document } from 'mongodb';
import { pause } from './processes.ts';

/** Commands that read or write data, as the server counts them. */
const counted = [
  'aggregate',
  'bulkWrite',
  'commitTransaction',
  'count',
  'delete',
  'distinct',
  'find',
  'findAndModify',
  'getMore',
  'insert',
  'update',
];

/** Milliseconds. */
const idleFor = 1_000;

/**
 * The number of commands that the database server has executed for all clients. Its own counter costs the measured
 * processes nothing. NaN if the server does not report it.
 */
export async function commandsSoFar(db: Db): Promise<number> {
  const status: Document = await db.command({ serverStatus: 1 });
  const totals = status['metrics']?.['commands'] as Record<string, { total?: unknown }> | undefined;
  if (!totals) return Number.NaN;
  return counted.reduce((sum, name) => sum + Number(totals[name]?.total ?? 0), 0);
}

/** Commands in a second without requests. Heartbeats are excluded, but jobs of the servers are included. */
export async function idleCommands(db: Db): Promise<number> {
  const before = await commandsSoFar(db);
  await pause(idleFor);
  return ((await commandsSoFar(db)) - before) / (idleFor / 1_000);
}
