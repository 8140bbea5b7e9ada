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

/** How long one read of the records serves all requests, in milliseconds. It limits reads, because the page is public. */
const freshForMs = 15_000;

/** Returns the incident of a database that is unavailable now. The records cannot contain it, because nothing can be written. */
function currentOutage({ since }: DatabaseFault, now: number): Incident {
  const minutes = Math.max(0, Math.floor((now - since.getTime()) / minute));
  return { kind: 'unavailable', from: since.toISOString(), until: null, minutes };
}

/** Makes the feature that records the availability of the service, and publishes it at `/status`. */
export function createStatusFeature({ stores, clock, servesApi, databaseFault, logger }: Dependencies) {
  const read = async (): Promise<Report> => {
    const now = clock.now();
    return reportOf(await stores.hours.read(windowStart(now, hour) - daysKept * 24 * hour), now);
  };
  const remembered = createRememberedRead({
    read: createSharedRead({ read, freshFor: freshForMs, clock }),
    databaseFault,
    clock,
    log: logger,
  });

  function stateOf(isReady: boolean, isDatabaseAway: boolean, hasErrors: boolean): ServiceStatus['status'] {
    if (!isReady || isDatabaseAway) return 'unavailable';
    return hasErrors ? 'errors' : 'operational';
  }

  /** @param isReady whether this process can serve requests */
  async function readStatus(isReady: boolean): Promise<ServiceStatus> {
    const { last, away } = await remembered();
    const now = clock.now();
    const { recordedSince, hasErrors = false, spans = [], incidents = [], days = [] } = last?.value ?? {};
    // The current outage replaces an open one in the records, so that it is not shown twice.
    const others = incidents.filter(({ kind, until }) => !(away && kind === 'unavailable' && until === null));
    return {
      status: stateOf(isReady, away !== undefined, hasErrors),
      at: new Date(now).toISOString(),
      recordedSince: recordedSince?.toISOString() ?? null,
      recordsAsOf: last?.at.toISOString() ?? null,
      spans,
      incidents: away ? [currentOutage(away, now), ...others] : incidents,
      days,
    };
  }

  const recorder = createRecorder({ store: stores.hours, clock, servesApi });
  return {
    ...recorder,
    /** Writes the counts so far. Call this when the process stops. It does not fail if the database is away. */
    flush: (): Promise<void> => recorder.flush().catch(() => undefined),
    /** Returns the routes. @param shell the HTML page into which the status is put */
    routes: (shell: string, isReady: () => boolean): FastifyPluginAsync =>
      statusRoutes(shell, () => readStatus(isReady())),
  };
}
