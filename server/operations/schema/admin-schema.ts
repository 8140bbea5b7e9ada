import { FinishedSchema, SchemaView, ShardsView } from '../../../contracts/admin/schema.ts';
import { procedure, router } from '../../platform/admin-api/procedures.ts';
import { endDryRun } from '../../platform/database/audit/dry-run.ts';
import type { Upgrade, UpgradeState } from '../../platform/database/schema/upgrade.ts';

const viewState = <S extends UpgradeState>({ oldestBuild, bothUntil, ...state }: S) => ({
  ...state,
  oldestBuild: oldestBuild ?? null,
  bothUntil: bothUntil?.toISOString() ?? null,
});

/** The procedures of `svcadmin schema …`, and the one that `svcadmin doctor` calls to check the cluster. */
export function createSchemaProcedures(
  { show, finish }: Pick<Upgrade, 'show' | 'finish'>,
  shards: () => Promise<ShardsView>,
) {
  return router({
    show: procedure.output(SchemaView).query(async () => viewState(await show())),
    shards: procedure.output(ShardsView).query(() => shards()),
    finish: procedure
      .output(FinishedSchema)
      .mutation(async ({ ctx }) => viewState(await finish(() => endDryRun(ctx.actor)))),
  });
}
