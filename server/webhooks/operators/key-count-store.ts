import type { AggregateOptions, Collection, Document } from 'mongodb';
import type { KeyOwner } from './key-owner.ts';

/** The number of documents of an API key. */
export interface KeyCount extends KeyOwner {
  total: number;
}

/** Counts the documents that `stages` find, by API key. */
export async function countByKey<D extends Document>(
  documents: Collection<D>,
  stages: Document[],
  options: AggregateOptions = {},
): Promise<KeyCount[]> {
  const owner = { partnerId: { $first: '$partnerId' }, mode: { $first: '$mode' } };
  const group = { $group: { _id: '$keyId', ...owner, total: { $sum: 1 } } };
  const found = await documents
    .aggregate<Omit<KeyCount, 'keyId'> & { _id: string }>([...stages, group], options)
    .toArray();
  return found.map(({ _id: keyId, ...count }) => ({ keyId, ...count }));
}
