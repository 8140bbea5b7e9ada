import { type Db, MongoServerError } from 'mongodb';
import type { ShardsView } from '../../contracts/admin/schema.ts';
import { compareShardKeys, isRouter, readShardKeys } from '../platform/database/sharding.ts';
import { shardKeys, unsharded } from './shard-keys.ts';

const unauthorized = 13;

/** Compares the shard keys of a cluster with the declared ones; nothing to compare on another database. */
export async function reportShards(
  db: Db,
  { router = isRouter(db), config = db.client.db('config') } = {},
): Promise<ShardsView> {
  if (!(await router)) return { sharded: false, differences: [] };
  const collections = [...shardKeys.map(({ collection }) => collection), ...Object.keys(unsharded)];
  try {
    const actual = await readShardKeys(config, db.databaseName);
    return { sharded: true, differences: compareShardKeys(shardKeys, collections, actual) };
  } catch (error) {
    if (error instanceof MongoServerError && error.code === unauthorized)
      return { sharded: true, differences: null };
    throw error;
  }
}
