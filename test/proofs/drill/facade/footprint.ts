import type { Document } from 'mongodb';
import type { EngineLink } from './engine-link.ts';
import { encode, numberOf } from './wire.ts';

/**
 * The ids of changed documents, by `database.collection`. It may have ids of unchanged documents, because a copy of an
 * unchanged document changes nothing.
 */
export type Footprint = Map<string, Map<string, unknown>>;

const keyOf = (id: unknown): string => encode({ id }).toString('base64');

export function addTo(footprint: Footprint, namespace: string, ids: readonly unknown[]): void {
  const known = footprint.get(namespace) ?? new Map<string, unknown>();
  footprint.set(namespace, known);
  for (const id of ids) known.set(keyOf(id), id);
}

export function merge(into: Footprint, from: Footprint): void {
  for (const [namespace, ids] of from) addTo(into, namespace, [...ids.values()]);
}

export const namespaceOf = (command: Document, name: string): string => `${command['$db']}.${command[name]}`;

const isPlain = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;

/** Returns the ids in a filter; undefined if the filter uses other fields. */
function idsInFilter(filter: Document): readonly unknown[] | undefined {
  const id: unknown = filter['_id'];
  if (id === undefined) return undefined;
  if (!isPlain(id)) return [id];
  return Object.keys(id).length === 1 && Array.isArray(id['$in']) ? id['$in'] : undefined;
}

const mostMatches = 100_000;

/** Reads the ids of the documents that match a filter now. */
async function readMatchingIds(
  engine: EngineLink,
  command: Document,
  filter: Document,
): Promise<readonly unknown[]> {
  const [[name = ''] = []] = [Object.keys(command)];
  const { cursor } = await engine.run({
    find: command[name],
    filter,
    projection: { _id: 1 },
    batchSize: mostMatches,
    singleBatch: true,
    $db: command['$db'],
  });
  return (cursor['firstBatch'] as Document[]).map(({ _id }) => _id);
}

/**
 * Returns the ids of all documents that a command may change. Called before the command runs. The ids of new documents are in
 * the reply.
 */
export async function footprintOf(engine: EngineLink, command: Document): Promise<unknown[]> {
  const [name] = Object.keys(command);
  if (name === 'insert') return (command['documents'] as Document[]).map(({ _id }) => _id);
  const statements = (command['updates'] ??
    command['deletes'] ?? [{ q: command['query'] ?? {} }]) as Document[];
  const found = await Promise.all(
    statements.map(
      async ({ q }) => idsInFilter(q as Document) ?? (await readMatchingIds(engine, command, q as Document)),
    ),
  );
  return found.flat();
}

/** Returns the ids of the documents that an upsert has inserted. */
export function upsertedIn(reply: Document): unknown[] {
  const upserted = (reply['upserted'] ?? []) as Document[];
  const single: unknown = reply['lastErrorObject']?.upserted;
  return [...upserted.map(({ _id }) => _id), ...(single === undefined ? [] : [single])];
}

/** Whether a write has changed anything, from its reply. */
export function hasChanged(name: string, reply: Document): boolean {
  if (name === 'update') return numberOf(reply['nModified']) > 0 || upsertedIn(reply).length > 0;
  if (name === 'findAndModify') return numberOf(reply['lastErrorObject']?.n) > 0;
  return numberOf(reply['n']) > 0;
}
