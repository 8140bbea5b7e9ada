import type { AggregateOptions, Collection, Document } from 'mongodb';
import type { KeyOwner } from '../endpoints/key-owner.ts';

/** The number of documents of an API key. */
export interface KeyCount extends KeyOwner {
  total: number;
}

/** Fields of a `$group` stage: the owner of the first document. */
export const firstOwner = { partnerId: { $first: '$partnerId' }, mode: { $first: '$mode' } };

/** Counts the documents that `stages` find, by API key. */
export async function countByKey<D extends Document>(
  documents: Collection<D>,
  stages: Document[],
  options: AggregateOptions = {},
): Promise<KeyCount[]> {
  const group = { $group: { _id: '$keyId', ...firstOwner, total: { $sum: 1 } } };
  const found = await documents
    .aggregate<Omit<KeyCount, 'keyId'> & { _id: string }>([...stages, group], options)
    .toArray();
  return found.map(({ _id: keyId, ...count }) => ({ keyId, ...count }));
}
