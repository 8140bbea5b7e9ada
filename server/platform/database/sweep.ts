import type { Collection, Db, Document, Filter } from 'mongodb';
import type { IndexDeclaration } from './indexes.ts';

/** How many documents one call deletes at most, so that the call stays short. */
export const deletedAtOnce = 1_000;

/**
 * Deletes at most 1,000 documents that match `filter`.
 *
 * @returns how many were found, and how many of them still matched when they were deleted
 */
export const deleteSome = async <D extends Document & { _id: string }>(
  collection: Collection<D>,
  filter: Filter<Document>,
): Promise<{ found: number; deleted: number }> => {
  const found = await collection
    .find(filter as Filter<D>, { projection: { _id: 1 }, limit: deletedAtOnce })
    .toArray();
  if (found.length === 0) return { found: 0, deleted: 0 };
  // The filter is checked again, because a document's expiry may have been moved since.
  const stillMatching = { ...filter, _id: { $in: found.map(({ _id }) => _id) } };
  const { deletedCount } = await collection.deleteMany(stillMatching as unknown as Filter<D>);
  return { found: found.length, deleted: deletedCount };
};

const expiredFilter = (index: IndexDeclaration, now: Date): Filter<Document> | undefined => {
  const [field] = Object.keys(index.key);
  if (index.expireAfterSeconds === undefined || field === undefined) return undefined;
  const before = new Date(now.getTime() - index.expireAfterSeconds * 1_000);
  return { $and: [{ [field]: { $lt: before } }, index.partialFilterExpression ?? {}] };
};

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
    deleted += (await deleteSome(db.collection<{ _id: string }>(declaration.collection), expired)).deleted;
  }
  return deleted;
};
