import { FinishedSchema, SchemaView } from '../../contracts/admin/schema.ts';
import { procedure, router } from '../platform/admin-api/procedures.ts';
import type { Upgrade, UpgradeState } from '../platform/upgrade.ts';

const viewState = <S extends UpgradeState>({ oldestBuild, ...state }: S) => ({
  ...state,
  oldestBuild: oldestBuild ?? null,
});

/** `svcadmin schema …`. */
export function createSchemaProcedures({ show, finish }: Pick<Upgrade, 'show' | 'finish'>) {
  return router({
    show: procedure.output(SchemaView).query(async () => viewState(await show())),
    finish: procedure.output(FinishedSchema).mutation(async () => viewState(await finish())),
  });
}
