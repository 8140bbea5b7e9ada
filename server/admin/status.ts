import { type ProcessView, StatusView } from '../../contracts/admin/status.ts';
import { procedure } from '../platform/admin-api/procedures.ts';
import type { Clock } from '../platform/clock.ts';
import type { Processes, ProcessRecord } from '../platform/processes.ts';

const viewProcess = ({
  _id,
  startedAt,
  lastSeenAt,
  masterKeys: _names,
  ...rest
}: ProcessRecord): ProcessView => ({
  id: _id,
  ...rest,
  startedAt: startedAt.toISOString(),
  lastSeenAt: lastSeenAt.toISOString(),
});

export interface StatusSources {
  about: Pick<StatusView, 'version' | 'contract' | 'environment' | 'baseUrl'>;
  clock: Clock;
  /** Deliveries not yet finished; rejects when the database is away. */
  readQueue: () => Promise<{ pending: number; oldestDueAt?: Date | undefined }>;
  /** Processes that were seen lately; rejects when the database is away. */
  readProcesses: Processes['list'];
}

/** `svcadmin status`: answers also where the database does not. */
export function createStatusProcedure({ about, clock, readQueue, readProcesses }: StatusSources) {
  return procedure.output(StatusView).query(async () => {
    const [queue, processes] = await Promise.all([
      readQueue().catch(() => null),
      readProcesses().catch(() => null),
    ]);
    return {
      ...about,
      time: new Date(clock.now()).toISOString(),
      database: queue ? ('up' as const) : ('down' as const),
      clockTrusted: clock.trusted(),
      processes: processes?.map(viewProcess) ?? null,
      queue: queue && { pending: queue.pending, oldestDueAt: queue.oldestDueAt?.toISOString() ?? null },
    };
  });
}
