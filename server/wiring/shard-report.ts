import type { ShardsView } from '../../contracts/admin/schema.ts';
import type { Database } from '../platform/database/connect.ts';
import { compareShardKeys, isRouter, readShardKeys } from '../platform/database/sharding.ts';
import { shardKeys, unsharded } from './shard-keys.ts';

/** Compares the shard keys of a cluster with the declared ones; nothing to compare on another database. */
export async function reportShards(
  db: Database['db'],
  { router = isRouter(db), config = db.client.db('config') } = {},
): Promise<ShardsView> {
  if (!(await router)) return { sharded: false, differences: [] };
  const collections = [...shardKeys.map(({ collection }) => collection), ...Object.keys(unsharded)];
  const actual = await readShardKeys(config, db.databaseName);
  return { sharded: true, differences: actual ? compareShardKeys(shardKeys, collections, actual) : null };
}
