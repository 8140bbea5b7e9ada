import { z } from 'zod';
import { BulkReference, BulkView, ListBulk, StartBulk, StartedBulk } from '../../../contracts/admin/bulk.ts';
import { procedure, router } from '../../platform/admin-api/procedures.ts';
import type { BulkJobs } from './bulk-jobs.ts';

/** Procedures of `svcadmin bulk`, and of `svcadmin deliveries` with a filter. */
export function bulkProcedures(jobs: BulkJobs) {
  return router({
    start: procedure
      .input(StartBulk)
      .output(StartedBulk)
      .mutation(({ input, ctx }) => jobs.start(input, ctx.actor)),
    list: procedure
      .input(ListBulk)
      .output(z.array(BulkView))
      .query(({ input }) => jobs.list(input)),
    show: procedure
      .input(BulkReference)
      .output(BulkView)
      .query(({ input }) => jobs.show(input.bulkId)),
    cancel: procedure
      .input(BulkReference)
      .output(BulkView)
      .mutation(({ input, ctx }) => jobs.cancel(input.bulkId, ctx.actor)),
  });
}
