import type { ShardsView } from '../../contracts/admin/schema.ts';
import type { StatusView } from '../../contracts/admin/status.ts';

/** What was looked at, what was found, and what mends it where it is not well. */
export interface Finding {
  check: string;
  ok: boolean;
  found: string;
  fix: string | null;
}

export function findingOf(check: string, ok: boolean, [found, fix]: readonly [string, string]): Finding {
  return { check, ok, found, fix: ok ? null : fix };
}

/** A database that is away, with the reason and since when. A server before this build names neither. */
export function judgeDatabase({
  database,
  away,
}: Pick<StatusView, 'database'> & Partial<StatusView>): Finding {
  const found = away ? `${database} since ${away.since}: ${away.reason}` : database;
  return findingOf('database', database === 'up', [found, 'start it, or check MONGODB_URI of the server']);
}

/** A shard key, or what else is known of where a collection is. */
const byKey = (found: string | null) => (found?.startsWith('{') ? `sharded by ${found}` : found);

/** Nothing where the database is no sharded cluster. What cannot be read is no fault of the cluster. */
export function judgeShards({ sharded, differences, unread }: ShardsView): Finding[] {
  if (!sharded) return [];
  const found = differences.map(
    (each) =>
      `${each.collection} is ${byKey(each.found) ?? 'not sharded'}, and should be ${byKey(each.expected) ?? 'unsharded'}`,
  );
  const differing = findingOf('sharding', found.length === 0, [
    found.join('; ') || (unread.length === 0 ? 'as declared' : 'nothing differs as far as it can be read'),
    'see "Sharded clusters" in docs/operations.md',
  ]);
  if (unread.length === 0) return [differing];
  const rest = `not compared, because the user of MONGODB_URI may not read them: ${unread.join(', ')}`;
  const grant = 'grant it the role clusterMonitor, or compare in mongosh with sh.status()';
  return [differing, { check: 'sharding', ok: true, found: rest, fix: grant }];
}
