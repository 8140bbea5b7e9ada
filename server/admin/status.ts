import { StatusView } from '../../contracts/admin/status.ts';
import { procedure } from '../platform/admin-api/procedures.ts';
import type { Clock } from '../platform/clock.ts';

export interface StatusSources {
  about: Pick<StatusView, 'version' | 'contract' | 'environment' | 'baseUrl'>;
  clock: Clock;
  /** Deliveries not yet finished; rejects when the database is away. */
  readQueue: () => Promise<{ pending: number; oldestDueAt?: Date | undefined }>;
}

/** `svcadmin status`: answers also where the database does not. */
export function createStatusProcedure({ about, clock, readQueue }: StatusSources) {
  return procedure.output(StatusView).query(async () => {
    const queue = await readQueue().catch(() => null);
    return {
      ...about,
      time: new Date(clock.now()).toISOString(),
      database: queue ? ('up' as const) : ('down' as const),
      clockTrusted: clock.trusted(),
      queue: queue && { pending: queue.pending, oldestDueAt: queue.oldestDueAt?.toISOString() ?? null },
    };
  });
}
