import { z } from 'zod';
import { BulkReference, BulkView, ListBulk, StartBulk, StartedBulk } from '../../../contracts/admin/bulk.ts';
import { mutation, query, router } from '../../platform/admin-api/procedures.ts';
import type { BulkJobs } from './bulk-jobs.ts';

/** Procedures of `svcadmin bulk`, and of `svcadmin deliveries` with a filter. */
export function bulkProcedures(jobs: BulkJobs) {
  return router({
    start: mutation(StartBulk, StartedBulk, (input, actor) => jobs.start(input, actor)),
    list: query(ListBulk, z.array(BulkView), (input) => jobs.list(input)),
    show: query(BulkReference, BulkView, ({ bulkId }) => jobs.show(bulkId)),
    cancel: mutation(BulkReference, BulkView, ({ bulkId }, actor) => jobs.cancel(bulkId, actor)),
  });
}
