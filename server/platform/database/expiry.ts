import type { Collection, Filter, UpdateFilter } from 'mongodb';

/** Another date of deletion: for documents that go before `to`, or only for those that go exactly at `from`. */
export interface NewExpiry {
  from?: Date;
  to: Date;
}

/** Moves when documents are deleted. A document without `purgeAt` is kept for ever, and stays so. Idempotent. */
export async function moveExpiry<R extends { purgeAt?: Date }>(
  documents: Collection<R>,
  filter: object,
  { from, to }: NewExpiry,
): Promise<void> {
  // The driver's types cannot check the fields of a type parameter.
  const moved = { ...filter, purgeAt: from ?? { $lt: to } } as unknown as Filter<R>;
  await documents.updateMany(moved, { $set: { purgeAt: to } } as unknown as UpdateFilter<R>);
}
