import {
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  MongoBulkWriteError,
  MongoServerError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { isDuplicateKey, isUnavailable } from './failures.ts';

/** Refusals of single statements of a group, by their index. */
type Refusals = ReadonlyMap<number, MongoServerError>;

/** The refused statements of a group; undefined where the error does not name them. */
function refusalsIn(error: unknown): Refusals | undefined {
  if (!(error instanceof MongoBulkWriteError) || isUnavailable(error)) return undefined;
  const errors = [error.writeErrors].flat();
  if (errors.length === 0) return undefined;
  return new Map(
    errors.map(({ index, code, errmsg = '' }) => [index, new MongoServerError({ code, errmsg })]),
  );
}

/**
 * Runs a group of statements that change nothing when they are sent again. Where the reply is lost, the group is sent
 * once more. The second reply shows the result of the first, and its journal write covers both.
 */
async function settled<T>(send: () => Promise<T>): Promise<{ reply?: T; refused: Refusals }> {
  for (let isLast = false; ; isLast = true) {
    try {
      return { reply: await send(), refused: new Map() };
    } catch (error) {
      const refused = refusalsIn(error);
      if (refused) return { refused };
      if (isLast || !isUnavailable(error)) throw error;
    }
  }
}

/** The result of one document of a group: `exists` where a unique index has refused it. */
export type Inserted = 'inserted' | 'exists' | MongoServerError;

/**
 * Inserts a group of documents in one command. Each has its own result; after a lost reply, those of the first command
 * `exist`.
 * @throws where the result of the whole command is unknown
 */
export async function insertEach<D extends Document & { _id: string }>(
  into: Collection<D>,
  documents: readonly D[],
): Promise<Inserted[]> {
  const group = documents as readonly OptionalUnlessRequiredId<D>[];
  const { refused } = await settled(() => into.insertMany(group, { ordered: false }));
  return documents.map((_, index) => {
    const refusal = refused.get(index);
    if (!refusal) return 'inserted';
    return isDuplicateKey(refusal) ? 'exists' : refusal;
  });
}

/** Inserts the documents whose `_id` does not exist yet. Idempotent. */
export async function insertMissing<T extends { _id: string }>(
  into: Collection<T>,
  documents: readonly T[],
): Promise<void> {
  if (documents.length === 0) return;
  const refusal = (await insertEach(into, documents)).find((result) => result instanceof MongoServerError);
  if (refusal) throw refusal;
}

/**
 * Inserts documents one after another, in one command, up to the first one that stands already.
 * @returns how many were inserted. After a lost reply it is 0: those of the first command stand already
 * @throws where the result of the whole command is unknown
 */
export async function insertInOrder<D extends Document & { _id: string }>(
  into: Collection<D>,
  documents: readonly D[],
): Promise<number> {
  const group = documents as readonly OptionalUnlessRequiredId<D>[];
  const { refused } = await settled(() => into.insertMany(group, { ordered: true }));
  const [first] = refused;
  if (!first) return documents.length;
  const [index, refusal] = first;
  if (!isDuplicateKey(refusal)) throw refusal;
  return index;
}

/**
 * Sends a group of compare-and-set updates in one command: their filters must not match what they have made.
 * @returns whether all of them are known to have matched, and which were refused
 * @throws where the result of the whole command is unknown
 */
export async function updateEach<D extends Document>(
  collection: Collection<D>,
  updates: AnyBulkWriteOperation<D>[],
): Promise<{ allMatched: boolean; refused: Refusals }> {
  const { reply, refused } = await settled(() => collection.bulkWrite(updates, { ordered: false }));
  return { allMatched: reply?.matchedCount === updates.length, refused };
}
