import type { FastifyPluginAsync } from 'fastify';
import type { Incident, ServiceStatus } from '../../contracts/service-status.ts';
import type { Clock } from '../platform/clock.ts';
import type { DatabaseFault, ReadDatabaseFault } from '../platform/database/availability.ts';
import { createRememberedRead } from '../platform/database/remembered-read.ts';
import { createSharedRead } from '../platform/database/shared-read.ts';
import { hour, minute, windowStart } from '../platform/http/windows.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createRecorder } from './recorder.ts';
import { type Report, reportOf } from './report.ts';
import { statusRoutes } from './routes.ts';
import { daysKept, type ServiceHourStore } from './service-hour-store.ts';

interface Dependencies {
  stores: { hours: ServiceHourStore };
  clock: Pick<Clock, 'now'>;
  servesApi: boolean;
  databaseFault: ReadDatabaseFault;
  logger: Pick<Logger, 'warn'>;
}

/** Milliseconds that one read of the records serves all who ask: everyone may. */
const freshFor = 15_000;

/** The time from which on nothing could be recorded, because the database is away. */
function presentOutage({ since }: DatabaseFault, now: number): Incident {
  const minutes = Math.max(0, Math.floor((now - since.getTime()) / minute));
  return { kind: 'unavailable', from: since.toISOString(), until: null, minutes };
}

/** What the service records of itself, and shows everyone at `/status`. */
export function createStatusFeature({ stores, clock, servesApi, databaseFault, logger }: Dependencies) {
  const read = async (): Promise<Report> => {
    const now = clock.now();
    return reportOf(await stores.hours.read(windowStart(now, hour) - daysKept * 24 * hour), now);
  };
  const remembered = createRememberedRead({
    read: createSharedRead({ read, freshFor, clock }),
    databaseFault,
    clock,
    log: logger,
  });

  /** @param isReady whether this process can serve */
  async function status(isReady: boolean): Promise<ServiceStatus> {
    const { last, away } = await remembered();
    const now = clock.now();
    const { recordedSince, hasErrors = false, spans = [], incidents = [], days = [] } = last?.value ?? {};
    const closed = incidents.filter(({ kind, until }) => !(away && kind === 'unavailable' && until === null));
    return {
      status: !isReady || away ? 'unavailable' : hasErrors ? 'errors' : 'operational',
      at: new Date(now).toISOString(),
      recordedSince: recordedSince?.toISOString() ?? null,
      recordsAsOf: last?.at.toISOString() ?? null,
      spans,
      incidents: away ? [presentOutage(away, now), ...closed] : incidents,
      days,
    };
  }

  const recorder = createRecorder({ store: stores.hours, clock, servesApi });
  return {
    ...recorder,
    /** Writes what has been added up; for a graceful stop, which does not wait for a database that is away. */
    flush: (): Promise<void> => recorder.flush().catch(() => undefined),
    /** @param shell the page of the site that the status stands in */
    routes: (shell: string, isReady: () => boolean): FastifyPluginAsync =>
      statusRoutes(shell, () => status(isReady())),
  };
}
