import { type Db, type Document, MongoServerError } from 'mongodb';
import type { ShardsView } from '../../../../contracts/admin/schema.ts';

/** How the documents of a collection are distributed over the shards of a cluster. */
export interface ShardDeclaration {
  collection: string;
  /** A ranged shard key; the order of its fields matters. */
  key: Record<string, 1>;
}

/** The cluster's own list of collections, in the database `config`. */
const clusterCollection = 'collections';

interface ClusterCollection {
  _id: string;
  key?: Document;
  dropped?: boolean;
  /** True for an unsharded collection, even if it was moved to another shard. */
  unsplittable?: boolean;
}

/** Unauthorized, CommandNotFound, CommandNotSupported, and the code that hosted clusters send in their place. */
const refusals = [13, 59, 115, 8000];

/** Reads a value; undefined if the server does not let this user read it. */
async function ifAllowed<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof MongoServerError && refusals.includes(Number(error.code))) return undefined;
    throw error;
  }
}

/** A shard key as text, with its fields in order. Null without a key. */
function textOfKey(key: Document | undefined): string | null {
  if (key === undefined) return null;
  const fields = Object.entries(key).map(([field, order]) => `${field}: ${String(order)}`);
  return `{${fields.join(', ')}}`;
}

/** Compares the declared shard keys of these collections with the actual ones. A collection without a declaration has no key. */
export function compareShardKeys(
  declared: readonly ShardDeclaration[],
  collections: readonly string[],
  actual: ReadonlyMap<string, Document>,
): ShardsView['differences'] {
  const differences: ShardsView['differences'] = [];
  for (const collection of collections) {
    const expected = textOfKey(declared.find((declaration) => declaration.collection === collection)?.key);
    const found = textOfKey(actual.get(collection));
    if (found !== expected) differences.push({ collection, expected, found });
  }
  return differences;
}

/**
 * Reads the shard keys of a database's collections; undefined if this user may not read them.
 * @param config the database `config` of the cluster
 */
export async function readShardKeys(
  config: Db,
  database: string,
): Promise<ReadonlyMap<string, Document> | undefined> {
  const prefix = `${database}.`;
  const afterPrefix = `${database}/`; // In ASCII, '/' follows '.'.
  const collections = config.collection<ClusterCollection>(clusterCollection);
  const inDatabase = { _id: { $gte: prefix, $lt: afterPrefix } };
  const found = await ifAllowed(() => collections.find(inDatabase).toArray());
  const sharded = found?.filter(({ dropped, unsplittable }) => !dropped && !unsplittable);
  return sharded && new Map(sharded.map(({ _id, key = {} }) => [_id.slice(prefix.length), key]));
}

/** The number of shards that hold a collection; undefined if this user may not read it. */
export async function countShards(db: Db, collection: string): Promise<number | undefined> {
  // The reply has one document of statistics from each of these shards.
  const stats = db.collection(collection).aggregate([{ $collStats: { count: {} } }]);
  return (await ifAllowed(() => stats.toArray()))?.length;
}

/** Whether a reply to the command `hello` comes from the router of a sharded cluster. Only a router sends this text. */
export const isFromRouter = (hello: Document): boolean => hello['msg'] === 'isdbgrid';

/** Whether the database is reached through the router of a sharded cluster. */
export const isRouter = async (db: Db): Promise<boolean> => isFromRouter(await db.command({ hello: 1 }));
