import type { ShardsView } from '../../../contracts/admin/schema.ts';
import type { Database } from '../../platform/database/connect.ts';
import {
  compareShardKeys,
  countShards,
  isRouter,
  readShardKeys,
} from '../../platform/database/schema/sharding.ts';
import { shardKeys, unsharded } from './collections.ts';

type Db = Database['db'];

/** Reports collections that are on several shards but should be on one. Needs no permission to read the shard keys. */
async function reportSpreadCollections(
  db: Db,
  count: typeof countShards,
): Promise<Omit<ShardsView, 'sharded'>> {
  const unread = ['shard keys'];
  const differences: ShardsView['differences'] = [];
  for (const collection of Object.keys(unsharded)) {
    const shards = await count(db, collection);
    if (shards === undefined) unread.push(`shards of ${collection}`);
    else if (shards > 1) differences.push({ collection, expected: null, found: `on ${shards} shards` });
  }
  return { differences, unread };
}

/** Compares the shard keys of a cluster with the declared ones. A database that is no cluster has no differences. Tests pass options. */
export async function reportShards(
  db: Db,
  { router = isRouter(db), config = db.client.db('config'), count = countShards } = {},
): Promise<ShardsView> {
  if (!(await router)) return { sharded: false, differences: [], unread: [] };
  const collections = [...shardKeys.map(({ collection }) => collection), ...Object.keys(unsharded)];
  const actual = await readShardKeys(config, db.databaseName);
  if (!actual) return { sharded: true, ...(await reportSpreadCollections(db, count)) };
  return { sharded: true, differences: compareShardKeys(shardKeys, collections, actual), unread: [] };
}
