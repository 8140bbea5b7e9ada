import { z } from 'zod';
import { MissingRole, ProcessView, StatusView } from '../../contracts/admin/status.ts';
import { query } from '../platform/admin-api/procedures.ts';
import { viewAs } from '../platform/admin-api/view.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReadDatabaseFault } from '../platform/database/availability.ts';
import { createRememberedRead } from '../platform/database/reads/remembered-read.ts';
import type { Processes, ProcessRecord } from '../platform/jobs/processes.ts';
import type { Logger } from '../platform/telemetry/logging.ts';

const viewProcess = ({ condition, ...record }: ProcessRecord): ProcessView =>
  viewAs(ProcessView, {
    ...record,
    id: record._id,
    ready: condition && condition.reasons.length === 0,
    reasons: condition?.reasons,
    clockOffsetMs: condition?.clockOffsetMs,
  });

export interface StatusSources {
  about: Pick<StatusView, 'version' | 'contract' | 'environment' | 'baseUrl'>;
  clock: Clock;
  /** Reads how many deliveries are not yet finished. Rejects if the database is away. */
  readQueue: () => Promise<{ pending: number; oldestDueAt?: Date | undefined }>;
  /** Reads the processes that reported lately, and the roles that none has. Rejects if the database is away. */
  readProcesses: Processes['survey'];
  databaseFault: ReadDatabaseFault;
  log: Pick<Logger, 'warn'>;
}

type Figures = {
  [Name in 'processes' | 'missingRoles' | 'differingSettings' | 'queue']: NonNullable<StatusView[Name]>;
};

/** The procedure of `svcadmin status`. It answers even if the database is away. */
export function createStatusProcedure(dependencies: StatusSources) {
  const { about, clock, readQueue, readProcesses } = dependencies;

  async function read(): Promise<Figures> {
    const [{ pending, oldestDueAt }, { processes, missingRoles, differingSettings }] = await Promise.all([
      readQueue(),
      readProcesses(),
    ]);
    return {
      processes: processes.map(viewProcess),
      missingRoles: missingRoles.map((missing) => viewAs(MissingRole, missing)),
      differingSettings,
      queue: { pending, oldestDueAt: oldestDueAt?.toISOString() ?? null },
    };
  }
  const remembered = createRememberedRead({ ...dependencies, read });

  return query(z.void(), StatusView, async () => {
    const { last, away } = await remembered();
    const common = { ...about, time: new Date(clock.now()).toISOString(), clockTrusted: clock.trusted() };
    const unread = { processes: null, missingRoles: null, differingSettings: null, queue: null };
    if (!away) return { ...common, database: 'up' as const, away: null, ...unread, ...last?.value };
    // Figures of an earlier read are in a member of their own, with their time, so that they are not taken for present ones.
    const { processes = [], queue } = last?.value ?? {};
    const earlier = last && queue ? { at: last.at.toISOString(), processes, queue } : null;
    return {
      ...common,
      ...unread,
      database: 'down' as const,
      away: { reason: away.reason, since: away.since.toISOString(), last: earlier },
    };
  });
}
