import { type Collection, MongoServerError } from 'mongodb';
import { insertEach } from './write-groups.ts';

/** Inserts the documents whose `_id` does not exist yet. Idempotent. */
export async function insertMissing<T extends { _id: string }>(
  into: Collection<T>,
  documents: readonly T[],
): Promise<void> {
  if (documents.length === 0) return;
  const refusal = (await insertEach(into, documents)).find((result) => result instanceof MongoServerError);
  if (refusal) throw refusal;
}
