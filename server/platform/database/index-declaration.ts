import type { Document } from 'mongodb';

/** An index that a store needs, in the order of its `key`'s fields. */
export type IndexDeclaration = {
  collection: string;
  key: Record<string, 1 | -1>;
  unique?: boolean;
  sparse?: boolean;
  /** Makes it a TTL index on its one field, a date: documents are deleted this long after it. */
  expireAfterSeconds?: number;
  partialFilterExpression?: Document;
  /** Default: the fields and directions, as the database would name it. */
  name?: string;
};
