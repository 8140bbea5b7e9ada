import { isDeepStrictEqual } from 'node:util';
import { type Db, type Document, MongoServerError } from 'mongodb';

/** How a collection is spread over the shards of a cluster. */
export interface ShardDeclaration {
  collection: string;
  /** Ranged, in the order of its fields. */
  key: Record<string, 1>;
}

/** A collection whose shard key is another one than declared. */
export interface ShardDifference {
  collection: string;
  /** The shard key that it should have; null where it should stay unsharded. */
  expected: string | null;
  /** The shard key that it has; null where it is unsharded. */
  found: string | null;
}

/** A collection in the configuration of a cluster. */
interface ClusterCollection {
  _id: string;
  key?: Document;
  dropped?: boolean;
  /** Unsharded, also where it was moved to another shard. */
  unsplittable?: boolean;
}

/** Unauthorized, CommandNotFound, CommandNotSupported, and what hosted clusters answer in their place. */
const refusals = [13, 59, 115, 8000];

/** Undefined where the server does not let this user, or any user, read it. */
async function ifAllowed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MongoServerError && refusals.includes(Number(error.code))) return undefined;
    throw error;
  }
}

const render = (key: Document | undefined): string | null =>
  key === undefined
    ? null
    : `{${Object.entries(key)
        .map(([field, order]) => `${field}: ${String(order)}`)
        .join(', ')}}`;

/** Compares declared shard keys with those that a cluster has. A collection that does not exist yet has none. */
export function compareShardKeys(
  declared: readonly ShardDeclaration[],
  collections: readonly string[],
  actual: ReadonlyMap<string, Document>,
): ShardDifference[] {
  return collections.flatMap((collection) => {
    const expected = declared.find((each) => each.collection === collection)?.key;
    const found = actual.get(collection);
    const isSame =
      found !== undefined && expected !== undefined
        ? isDeepStrictEqual(Object.entries(found), Object.entries(expected))
        : found === expected;
    return isSame ? [] : [{ collection, expected: render(expected), found: render(found) }];
  });
}

/**
 * The shard keys of the collections of a database; undefined where they may not be read.
 * @param config the cluster's database of that name
 */
export async function readShardKeys(
  config: Db,
  database: string,
): Promise<ReadonlyMap<string, Document> | undefined> {
  const prefix = `${database}.`;
  const collections = config.collection<ClusterCollection>('collections');
  const ofDatabase = { _id: { $gte: prefix, $lt: `${database}/` } };
  const found = await ifAllowed(() => collections.find(ofDatabase).toArray());
  const sharded = found?.filter(({ dropped, unsplittable }) => !dropped && !unsplittable);
  return sharded && new Map(sharded.map(({ _id, key = {} }) => [_id.slice(prefix.length), key]));
}

/** On how many shards a collection is; undefined where that may not be read. Needs fewer rights than the configuration does. */
export async function countShards(db: Db, collection: string): Promise<number | undefined> {
  const stats = db.collection(collection).aggregate([{ $collStats: { count: {} } }]);
  return (await ifAllowed(() => stats.toArray()))?.length;
}

/** Whether the database is reached through the router of a sharded cluster. */
export async function isRouter(db: Db): Promise<boolean> {
  const { msg } = (await db.command({ hello: 1 })) as { msg?: string };
  return msg === 'isdbgrid';
}
