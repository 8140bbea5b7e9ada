import { z } from 'zod';
import { FinishedSchema, SchemaView, ShardsView } from '../../../contracts/admin/schema.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import type { Database } from '../../platform/database/connect.ts';
import type { Upgrade } from '../../platform/database/schema/upgrade.ts';
import { reportShards } from './shard-report.ts';

/** The procedures of `svcadmin schema …`, and the one that `svcadmin doctor` calls to check the cluster. */
export function createSchemaProcedures(
  { show, finish }: Pick<Upgrade, 'show' | 'finish'>,
  db: Database['db'],
) {
  return router({
    show: query(z.void(), SchemaView, () => show()),
    shards: query(z.void(), ShardsView, () => reportShards(db)),
    finish: mutation({ target: null, record: 'none' })(z.void(), FinishedSchema, (_input, actor) =>
      finish(actor),
    ),
  });
}
