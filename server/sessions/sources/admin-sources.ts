import { z } from 'zod';
import { SourceReference, SourceView } from '../../../contracts/admin/sources.ts';
import { procedure, query, router } from '../../platform/admin-api/procedures.ts';
import type { SourceOverview } from './overview.ts';

/** Makes the procedures that `svcadmin sources` calls. */
export function createSourceProcedures({ list, check }: SourceOverview) {
  return router({
    list: procedure.output(z.array(SourceView)).query(() => list()),
    check: query(SourceReference, SourceView, ({ name }) => check(name)),
  });
}
