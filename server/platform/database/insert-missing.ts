import { type Collection, MongoBulkWriteError, type OptionalUnlessRequiredId } from 'mongodb';
import { duplicateKey, isUnavailable } from './failures.ts';

/** Whether a bulk insert failed for nothing but documents that stand already. One whose reply was lost has no write errors. */
const onlyDuplicates = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError &&
  !isUnavailable(error) &&
  [error.writeErrors].flat().every(({ code }) => code === duplicateKey);

/** Inserts documents of which some may stand already, by `_id`; those stay as they are. Idempotent. */
export async function insertMissing<T extends { _id: string }>(
  into: Collection<T>,
  documents: readonly T[],
): Promise<void> {
  if (documents.length === 0) return;
  try {
    await into.insertMany(documents as unknown as OptionalUnlessRequiredId<T>[], { ordered: false });
  } catch (error) {
    if (!onlyDuplicates(error)) throw error;
  }
}
