import type { Collection, Db, Filter } from 'mongodb';
import { anyOf, type Read } from './reads/joint-reads.ts';
import type { IndexDeclaration } from './schema/indexes.ts';

/** The most documents that are deleted by one index in one call, so that the call stays short. */
const deletedAtOnce = 1_000;

/** Deletes at most 1,000 documents that match `filter`. @returns how many were deleted */
async function deleteSome(
  collection: Collection<{ _id: string }>,
  filter: Filter<{ _id: string }>,
): Promise<number> {
  const found = await collection.find(filter, { projection: { _id: 1 }, limit: deletedAtOnce }).toArray();
  if (found.length === 0) return 0;
  // The filter is checked again, because a document's expiry may have been moved since.
  const stillMatching = { ...filter, _id: { $in: found.map(({ _id }) => _id) } };
  return (await collection.deleteMany(stillMatching)).deletedCount;
}

/** Returns the condition of documents that have expired by an index; undefined if it is no TTL index. */
const expiredFilter = (index: IndexDeclaration, now: Date): Filter<{ _id: string }> | undefined => {
  const [field] = Object.keys(index.key);
  if (index.expireAfterSeconds === undefined || field === undefined) return undefined;
  const before = new Date(now.getTime() - index.expireAfterSeconds * 1_000);
  return { $and: [{ [field]: { $lt: before } }, index.partialFilterExpression ?? {}] } as Filter<{
    _id: string;
  }>;
};

/** Reads that find whether `sweepExpired` would delete anything. */
export const expiredReads = (declarations: readonly IndexDeclaration[], now: Date): Read[] =>
  declarations.flatMap((declaration) => {
    const expired = expiredFilter(declaration, now);
    return expired === undefined ? [] : anyOf(declaration.collection, expired);
  });

/**
 * Deletes expired documents by the declared TTL indexes, for a database that has no TTL monitor.
 *
 * @param now the present time, from the database's clock
 * @returns how many documents were deleted: at most 1,000 of each index, so that one call stays short
 */
export const sweepExpired = async (
  db: Db,
  declarations: readonly IndexDeclaration[],
  now: Date,
): Promise<number> => {
  let deleted = 0;
  for (const declaration of declarations) {
    const expired = expiredFilter(declaration, now);
    if (expired === undefined) continue;
    deleted += await deleteSome(db.collection<{ _id: string }>(declaration.collection), expired);
  }
  return deleted;
};
