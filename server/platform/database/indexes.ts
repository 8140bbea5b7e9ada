import { isDeepStrictEqual } from 'node:util';
import { type Db, type Document, MongoServerError } from 'mongodb';

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

type ReportedIndex = Document & { name: string; key: Document };

const namespaceNotFound = 26;
const indexNotFound = 27;

const nameOf = ({ name, key }: IndexDeclaration): string => name ?? Object.entries(key).flat().join('_');

const optionsOf = (index: Document | IndexDeclaration) => ({
  ...(index['unique'] ? { unique: true } : {}),
  ...(index['sparse'] ? { sparse: true } : {}),
  ...(index['expireAfterSeconds'] === undefined ? {} : { expireAfterSeconds: index['expireAfterSeconds'] }),
  ...(index['partialFilterExpression'] ? { partialFilterExpression: index['partialFilterExpression'] } : {}),
});

/** Everything about an index that a query or a constraint can notice; the order of fields matters. */
const signature = (name: string, index: Document | IndexDeclaration) => ({
  name,
  key: Object.entries(index['key']),
  options: optionsOf(index),
});

const isSame = (declared: IndexDeclaration, reported: ReportedIndex): boolean =>
  isDeepStrictEqual(signature(nameOf(declared), declared), signature(reported.name, reported));

const readIndexes = async (db: Db, collection: string): Promise<ReportedIndex[]> => {
  try {
    return (await db.collection(collection).listIndexes().toArray()) as ReportedIndex[];
  } catch (error) {
    if (error instanceof MongoServerError && error.code === namespaceNotFound) return [];
    throw error;
  }
};

const dropIndex = async (db: Db, collection: string, name: string): Promise<void> => {
  try {
    await db.collection(collection).dropIndex(name);
  } catch (error) {
    // Another server, starting at the same time, was faster.
    if (!(error instanceof MongoServerError) || error.code !== indexNotFound) throw error;
  }
};

const groupByCollection = (declarations: readonly IndexDeclaration[]): Map<string, IndexDeclaration[]> => {
  const groups = new Map<string, IndexDeclaration[]>();
  for (const index of declarations) {
    groups.set(index.collection, [...(groups.get(index.collection) ?? []), index]);
  }
  return groups;
};

/**
 * Makes the declared indexes exist as declared. One with the same name or key but other options is dropped and
 * made again; undeclared indexes are left alone. Several processes may run it at the same time.
 */
export const ensureIndexes = async (db: Db, declarations: readonly IndexDeclaration[]): Promise<void> => {
  for (const [collection, declared] of groupByCollection(declarations)) {
    const reported = await readIndexes(db, collection);
    const missing = declared.filter((index) => !reported.some((found) => isSame(index, found)));
    for (const index of missing) {
      const inTheWay = reported.filter(
        ({ name, key }) =>
          name === nameOf(index) || isDeepStrictEqual(Object.entries(key), Object.entries(index.key)),
      );
      for (const { name } of inTheWay) await dropIndex(db, collection, name);
      await db.collection(collection).createIndex(index.key, { name: nameOf(index), ...optionsOf(index) });
    }
  }
};

/**
 * Compares what is declared with what the database reports, in the collections that declare anything.
 *
 * @returns a sentence for each index that is missing, differs, or is not declared; empty when all agree
 */
export const reportIndexDrift = async (
  db: Db,
  declarations: readonly IndexDeclaration[],
): Promise<string[]> => {
  const drift: string[] = [];
  for (const [collection, declared] of groupByCollection(declarations)) {
    const reported = (await readIndexes(db, collection)).filter(({ name }) => name !== '_id_');
    for (const index of declared) {
      const name = nameOf(index);
      const found = reported.find((candidate) => candidate.name === name);
      if (found === undefined) drift.push(`${collection}.${name} is missing`);
      else if (!isSame(index, found)) drift.push(`${collection}.${name} differs from its declaration`);
    }
    const names = new Set(declared.map(nameOf));
    for (const { name } of reported) {
      if (!names.has(name)) drift.push(`${collection}.${name} is not declared`);
    }
  }
  return drift;
};
