import {
  type AnyBulkWriteOperation,
  type Collection,
  type Document,
  MongoBulkWriteError,
  MongoServerError,
  type OptionalUnlessRequiredId,
} from 'mongodb';
import { isDuplicateKey, isUnavailable } from './failures.ts';

/** Errors of single statements of a batch, by the index of the statement. */
type Refusals = ReadonlyMap<number, MongoServerError>;

/**
 * The refused statements in an error. Undefined if the error does not name them, or if the database is unavailable: then the
 * results of the other statements are unknown.
 */
function refusalsIn(error: unknown): Refusals | undefined {
  if (!(error instanceof MongoBulkWriteError) || isUnavailable(error)) return undefined;
  const errors = [error.writeErrors].flat(); // The driver gives one error or a list of them.
  if (errors.length === 0) return undefined;
  return new Map(
    errors.map(({ index, code, errmsg = '' }) => [index, new MongoServerError({ code, errmsg })]),
  );
}

/** The reply to a batch, which is absent if statements were refused. */
interface Sent<T> {
  reply?: T;
  refused: Refusals;
}

/** Sends a batch of statements. @throws if the error does not name the refused statements */
async function sendOnce<T>(send: () => Promise<T>): Promise<Sent<T>> {
  try {
    return { reply: await send(), refused: new Map() };
  } catch (error) {
    const refused = refusalsIn(error);
    if (refused) return { refused };
    throw error;
  }
}

/**
 * Sends a batch of statements that are safe to repeat. If the reply is lost, the batch is sent once more. In the second try,
 * statements that the first one has applied change nothing. The second reply confirms that both tries are in the journal.
 */
async function sendRepeatable<T>(send: () => Promise<T>): Promise<Sent<T>> {
  try {
    return await sendOnce(send);
  } catch (error) {
    if (isUnavailable(error)) return sendOnce(send);
    throw error;
  }
}

/** The result for one document of a batch. `exists`: a unique index has refused it. */
export type Inserted = 'inserted' | 'exists' | MongoServerError;

/**
 * Inserts a batch of documents in one command, with a result for each. After a lost reply and a repetition, documents of
 * the first try are reported as `exists`.
 * @throws if the result of the whole command is unknown
 */
export async function insertEach<D extends Document & { _id: string }>(
  into: Collection<D>,
  documents: readonly D[],
): Promise<Inserted[]> {
  const group = documents as readonly OptionalUnlessRequiredId<D>[];
  const { refused } = await sendRepeatable(() => into.insertMany(group, { ordered: false }));
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
 * Inserts documents in order, in one command, until the first one that exists already.
 * @returns how many were inserted. After a lost reply, documents of the first try count as existing, so it may be 0
 * @throws if the result of the whole command is unknown
 */
export async function insertInOrder<D extends Document & { _id: string }>(
  into: Collection<D>,
  documents: readonly D[],
): Promise<number> {
  const group = documents as readonly OptionalUnlessRequiredId<D>[];
  const { refused: refusals } = await sendRepeatable(() => into.insertMany(group, { ordered: true }));
  // An ordered batch ends at the first refused statement, so there is at most one.
  const [refused] = refusals;
  if (!refused) return documents.length;
  const [index, refusal] = refused;
  if (!isDuplicateKey(refusal)) throw refusal;
  return index; // All documents before the refused one were inserted.
}

/**
 * Sends a batch of compare-and-set updates in one command. The filter of an update must not match its own result;
 * otherwise a second try after a lost reply would apply the update twice. A replacement by a whole document may match its own
 * result, because a second try stores the same document again. If it is an upsert that does not match its result, the second
 * try is refused as a duplicate key.
 * @returns `allMatched`: whether all updates matched; false also after a refusal or a second try, when this is not known.
 * `refused`: the refused updates
 * @throws if the result of the whole command is unknown
 */
export async function updateEach<D extends Document>(
  collection: Collection<D>,
  updates: AnyBulkWriteOperation<D>[],
): Promise<{ allMatched: boolean; refused: Refusals }> {
  const { reply, refused } = await sendRepeatable(() => collection.bulkWrite(updates, { ordered: false }));
  return { allMatched: reply?.matchedCount === updates.length, refused };
}
