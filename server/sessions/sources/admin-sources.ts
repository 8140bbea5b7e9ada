import { z } from 'zod';
import { SourceReference, SourceView } from '../../../contracts/admin/sources.ts';
import { query, router } from '../../platform/admin-api/procedures.ts';
import type { SourceOverview } from './overview.ts';

export function createSourceProcedures({ list, check }: SourceOverview) {
  return router({
    list: query(z.void(), z.array(SourceView), () => list()),
    check: query(SourceReference, SourceView, ({ name }) => check(name)),
  });
}
