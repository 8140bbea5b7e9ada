import type { Db, Document, Filter } from 'mongodb';
import type { IndexDeclaration } from './indexes.ts';

const documentsPerIndex = 1_000;

const expiredFilter = (index: IndexDeclaration, now: Date): Filter<Document> | undefined => {
  const [field] = Object.keys(index.key);
  if (index.expireAfterSeconds === undefined || field === undefined) return undefined;
  const before = new Date(now.getTime() - index.expireAfterSeconds * 1_000);
  return { $and: [{ [field]: { $lt: before } }, index.partialFilterExpression ?? {}] };
};

/**
 * Deletes what TTL indexes name as expired, for a database whose own TTL monitor does not run.
 *
 * @param now the time that decides, from the database's clock
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
    const collection = db.collection(declaration.collection);
    const found = await collection
      .find(expired, { projection: { _id: 1 }, limit: documentsPerIndex })
      .toArray();
    if (found.length === 0) continue;
    // Asked again in the delete: a document's life may have been prolonged in between.
    const { deletedCount } = await collection.deleteMany({
      ...expired,
      _id: { $in: found.map(({ _id }) => _id) },
    });
    deleted += deletedCount;
  }
  return deleted;
};
