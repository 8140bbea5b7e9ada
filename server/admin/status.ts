import { type ProcessView, StatusView } from '../../contracts/admin/status.ts';
import { procedure } from '../platform/admin-api/procedures.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReadDatabaseFault } from '../platform/database/availability.ts';
import { createRememberedRead } from '../platform/database/remembered-read.ts';
import type { Processes, ProcessRecord } from '../platform/jobs/processes.ts';
import type { Logger } from '../platform/telemetry/logging.ts';

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
  /** Reads how many deliveries are not yet finished. Rejects if the database is away. */
  readQueue: () => Promise<{ pending: number; oldestDueAt?: Date | undefined }>;
  /** Reads the processes that reported lately. Rejects if the database is away. */
  readProcesses: Processes['list'];
}

/** The figures that are read from the database. */
type Figures = { [Name in 'processes' | 'queue']: NonNullable<StatusView[Name]> };

interface Dependencies extends StatusSources {
  databaseFault: ReadDatabaseFault;
  log: Pick<Logger, 'warn'>;
}

/** The procedure of `svcadmin status`. It answers even if the database is away. */
export function createStatusProcedure(dependencies: Dependencies) {
  const { about, clock, readQueue, readProcesses } = dependencies;

  async function read(): Promise<Figures> {
    const [{ pending, oldestDueAt }, processes] = await Promise.all([readQueue(), readProcesses()]);
    return {
      processes: processes.map(viewProcess),
      queue: { pending, oldestDueAt: oldestDueAt?.toISOString() ?? null },
    };
  }
  const remembered = createRememberedRead({ ...dependencies, read });

  return procedure.output(StatusView).query(async () => {
    const { last, away } = await remembered();
    const known = last && { at: last.at.toISOString(), ...last.value };
    return {
      ...about,
      time: new Date(clock.now()).toISOString(),
      database: away ? ('down' as const) : ('up' as const),
      away: away ? { reason: away.reason, since: away.since.toISOString(), last: known ?? null } : null,
      clockTrusted: clock.trusted(),
      processes: (away ? undefined : last?.value.processes) ?? null,
      queue: (away ? undefined : last?.value.queue) ?? null,
    };
  });
}
