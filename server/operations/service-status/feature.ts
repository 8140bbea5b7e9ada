import type { FastifyPluginAsync } from 'fastify';
import type { Incident, ServiceStatus } from '../../../contracts/service-status.ts';
import type { Clock } from '../../platform/clock.ts';
import type { DatabaseFault, ReadDatabaseFault } from '../../platform/database/availability.ts';
import { createRememberedRead } from '../../platform/database/reads/remembered-read.ts';
import { createSharedRead } from '../../platform/database/reads/shared-read.ts';
import { hour, minute, windowStart } from '../../platform/http/limits/windows.ts';
import type { Logger } from '../../platform/telemetry/logging.ts';
import { createRecorder } from './recorder.ts';
import { type Report, reportOf } from './report.ts';
import { type StatusShell, statusRoutes } from './routes.ts';
import { daysKept, type ServiceHourStore } from './service-hour-store.ts';

interface Dependencies {
  stores: { hours: ServiceHourStore };
  clock: Pick<Clock, 'now'>;
  servesApi: boolean;
  databaseFault: ReadDatabaseFault;
  logger: Pick<Logger, 'warn'>;
}

/** How long one read of the records serves all requests, in milliseconds. It limits reads, because the page is public. */
const freshForMs = 15_000;

/** Returns the incident of a database that is unavailable now. The records cannot contain it, because nothing can be written. */
function currentOutage({ since }: DatabaseFault, now: number): Incident {
  const minutes = Math.max(0, Math.floor((now - since.getTime()) / minute));
  return { kind: 'unavailable', from: since.toISOString(), until: null, minutes };
}

/**
 * Adds the present outage of the database to the incidents of the records. It replaces an unfinished outage, because that is
 * the same one.
 */
function withCurrentOutage(incidents: readonly Incident[], outage: Incident | undefined): Incident[] {
  if (!outage) return [...incidents];
  const isUnfinishedOutage = ({ kind, until }: Incident) => kind === 'unavailable' && until === null;
  return [outage, ...incidents.filter((incident) => !isUnfinishedOutage(incident))];
}

/** Makes the feature that records the availability of the service, and publishes it at `/status`. */
export function createStatusFeature({ stores, clock, servesApi, databaseFault, logger }: Dependencies) {
  const read = async (): Promise<Report> => {
    const now = clock.now();
    return reportOf(await stores.hours.read(windowStart(now, hour) - daysKept * 24 * hour), now);
  };
  /** While the database is away, returns the last report, and the fault as `away`. */
  const readReport = createRememberedRead({
    read: createSharedRead({ read, freshFor: freshForMs, clock }),
    databaseFault,
    clock,
    log: logger,
  });

  /** @param isReady whether this process can serve requests */
  async function readStatus(isReady: boolean): Promise<ServiceStatus> {
    const { last, away } = await readReport();
    const now = clock.now();
    const { recordedSince, hasErrors = false, spans = [], incidents = [], days = [] } = last?.value ?? {};
    const isUnavailable = !isReady || away !== undefined;
    const recordedStatus = hasErrors ? 'errors' : 'operational';
    return {
      status: isUnavailable ? 'unavailable' : recordedStatus,
      at: new Date(now).toISOString(),
      recordedSince: recordedSince?.toISOString() ?? null,
      recordsAsOf: last?.at.toISOString() ?? null,
      spans,
      incidents: withCurrentOutage(incidents, away && currentOutage(away, now)),
      days,
    };
  }

  const recorder = createRecorder({ store: stores.hours, clock, servesApi });
  return {
    ...recorder,
    /** Writes the counts so far. Call this when the process stops. It does not fail if the database is away. */
    flush: (): Promise<void> => recorder.flush().catch(() => undefined),
    /** Returns the routes. @param shell the page into which the status is put */
    routes: (shell: StatusShell, isReady: () => boolean): FastifyPluginAsync =>
      statusRoutes(shell, () => readStatus(isReady())),
  };
}
