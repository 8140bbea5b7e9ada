import { isDeepStrictEqual } from 'node:util';
import { type Db, type Document, MongoServerError } from 'mongodb';
import { groupBy } from '../../batching/group-by.ts';
import { ConfigError } from '../../errors.ts';
import type { Logger } from '../../telemetry/logging.ts';
import { isUnavailable, nameOfFailure } from '../failures.ts';

/** An index that a store needs, in the order of its `key`'s fields. */
export type IndexDeclaration = {
  collection: string;
  key: Record<string, 1 | -1>;
  unique?: boolean;
  sparse?: boolean;
  /** Makes it a TTL index: documents are deleted this long after the date in its only field. */
  expireAfterSeconds?: number;
  partialFilterExpression?: Document;
  /** Default: fields and directions, as the database itself names indexes. */
  name?: string;
};

type ReportedIndex = Document & { name: string; key: Document };

const namespaceNotFound = 26;
const indexNotFound = 27;
const commandNotFound = 59;

const nameOf = ({ name, key }: IndexDeclaration): string => name ?? Object.entries(key).flat().join('_');

/** The options of an index, without those that have their default. So declared and reported ones can be compared. */
const optionsOf = (index: Document | IndexDeclaration) => ({
  ...(index['unique'] ? { unique: true } : {}),
  ...(index['sparse'] ? { sparse: true } : {}),
  ...(index['expireAfterSeconds'] === undefined ? {} : { expireAfterSeconds: index['expireAfterSeconds'] }),
  ...(index['partialFilterExpression'] ? { partialFilterExpression: index['partialFilterExpression'] } : {}),
});

const specOf = (index: IndexDeclaration) => ({ key: index.key, name: nameOf(index), ...optionsOf(index) });

/** Whether the keys are the same. The order of their fields matters. */
const hasSameKey = (declared: IndexDeclaration, { key }: ReportedIndex): boolean =>
  isDeepStrictEqual(Object.entries(key), Object.entries(declared.key));

/** Whether both have the same key and options. Their names may differ. */
const isEquivalent = (declared: IndexDeclaration, reported: ReportedIndex): boolean =>
  hasSameKey(declared, reported) && isDeepStrictEqual(optionsOf(declared), optionsOf(reported));

const readIndexes = async (db: Db, collection: string): Promise<ReportedIndex[]> => {
  try {
    return (await db.collection(collection).listIndexes().toArray()) as ReportedIndex[];
  } catch (error) {
    if (error instanceof MongoServerError && error.code === namespaceNotFound) return [];
    throw error;
  }
};

/** Call this only if no process needs the index any more. Idempotent. */
export const dropIndex = async (db: Db, collection: string, name: string): Promise<void> => {
  try {
    await db.collection(collection).dropIndex(name);
  } catch (error) {
    const absent = [indexNotFound, namespaceNotFound];
    if (!(error instanceof MongoServerError) || !absent.includes(Number(error.code))) throw error;
  }
};

/** The options with one lifetime for all, so that a comparison ignores the actual ones. */
const withoutLifetime = (index: Document | IndexDeclaration) => ({
  ...optionsOf(index),
  expireAfterSeconds: 0,
});

/** Whether the two differ at most in how long documents are kept, which can be changed in place. */
const canChangeLifetime = (declared: IndexDeclaration, reported: ReportedIndex): boolean =>
  declared.expireAfterSeconds !== undefined &&
  reported['expireAfterSeconds'] !== undefined &&
  hasSameKey(declared, reported) &&
  isDeepStrictEqual(withoutLifetime(declared), withoutLifetime(reported));

/** Creates a missing index, or changes how long documents are kept. Another name of the same index is accepted. */
async function ensureIndex(db: Db, index: IndexDeclaration, reported: ReportedIndex[]): Promise<void> {
  const { collection, expireAfterSeconds } = index;
  // An index with a name of its own may have the key of another one, for other documents.
  const isSame = index.name ? isEquivalent : hasSameKey;
  const existing =
    reported.find(({ name }) => name === nameOf(index)) ??
    reported.find((candidate) => isSame(index, candidate));
  if (!existing) {
    await db.collection(collection).createIndexes([specOf(index)]);
  } else if (isEquivalent(index, existing)) {
    return; // MongoDB locks the collection for a `collMod`, even if it changes nothing.
  } else if (canChangeLifetime(index, existing)) {
    await db
      .command({ collMod: collection, index: { name: existing.name, expireAfterSeconds } })
      .catch((error: unknown) => {
        // The embedded engine cannot change it, and needs not: the sweep deletes documents by the declaration.
        if (!(error instanceof MongoServerError) || error.code !== commandNotFound) throw error;
      });
  } else {
    throw new ConfigError([
      `the index ${existing.name} of the collection ${collection} is not as this build declares it. An index is not dropped under running processes: stop all of them, drop it, and start again.`,
    ]);
  }
}

/**
 * Creates the declared indexes that are missing. Drops none, because processes of other builds may need them. Several
 * processes may run it at the same time.
 * @throws ConfigError if an index with the same name or key has other options than the time that documents are kept
 */
export const ensureIndexes = async (db: Db, declarations: readonly IndexDeclaration[]): Promise<void> => {
  for (const [collection, declared] of groupBy(declarations, (index) => index.collection)) {
    const reported = await readIndexes(db, collection);
    for (const index of declared) await ensureIndex(db, index, reported);
    const names = new Set(reported.map(({ name }) => name));
    // Indexes that another process is still building are reported too. Creating the same index again waits for the build.
    // Only unique ones have to be complete, because writes rely on their refusals.
    const unique = declared.filter((index) => index.unique && names.has(nameOf(index)));
    if (unique.length > 0) await db.collection(collection).createIndexes(unique.map(specOf));
  }
};

interface Progress {
  /** Called with a description of the present step, for readiness. */
  note: (step: string) => void;
  /** Waits before the next try. */
  pause: () => Promise<unknown>;
  logger: Pick<Logger, 'warn'>;
  /** Returns the error that ends the tries, because waiting does not help. */
  giveUp?: (error: unknown) => Error | undefined;
}

/**
 * As `ensureIndexes`, but without a time limit. While the database is unavailable, it tries again. A build continues in
 * the database also after the client has stopped waiting.
 */
export async function awaitIndexes(
  db: Db,
  declarations: readonly IndexDeclaration[],
  { note, pause, logger, giveUp }: Progress,
): Promise<void> {
  note('the indexes are being made');
  for (;;) {
    try {
      return await ensureIndexes(db, declarations);
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      const fault = giveUp?.(error);
      if (fault) throw fault;
      logger.warn({ err: error }, 'the indexes are not made yet');
      note(`the indexes are not made yet: ${nameOfFailure(error)}`);
      await pause();
    }
  }
}
