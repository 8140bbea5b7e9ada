import { setTimeout as sleep } from 'node:timers/promises';
import type { Foundation } from '../operations/foundation.ts';
import { indexes } from '../operations/schema/collections.ts';
import type { DatabaseClock } from '../platform/clock.ts';
import { rememberAdminAddress } from '../platform/config/admin-address.ts';
import type { Config } from '../platform/config/config.ts';
import { adminTokenOf } from '../platform/config/local-secrets.ts';
import { defaultPace, type Pace } from '../platform/config/pace.ts';
import { watchAvailability } from '../platform/database/availability.ts';
import type { Database } from '../platform/database/connect.ts';
import { awaitIndexes, type IndexDeclaration } from '../platform/database/schema/indexes.ts';
import type { Schema } from '../platform/database/schema/schema.ts';
import { createWriteProbe } from '../platform/database/write-probe.ts';
import { createReadiness } from '../platform/http/endpoints/readiness.ts';
import type { Address } from '../platform/http/listen.ts';
import type { HttpServer } from '../platform/http/server.ts';
import { createProcesses } from '../platform/jobs/processes.ts';
import { sharedSettingsOf } from '../platform/jobs/shared-settings.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { usableAddresses } from './addresses.ts';
import { createAdminApp, createHealthApp, createPublicApp } from './app.ts';
import { fullDiskFault, openDatabaseParts } from './database-parts.ts';
import { createLifecycle } from './lifecycle.ts';
import { createListeners } from './listeners.ts';
import { createMembership } from './membership.ts';
import { createPeriodicWork } from './periodic-work.ts';
import { schema as ownSchema } from './wiring/schema.ts';
import { createServices } from './wiring/services.ts';

/** How long to wait between two tries to create the indexes, in milliseconds. */
const indexRetryMs = 1_000;

/** Parts that a caller may replace: tests replace the clock, fault runs wrap stores. */
export interface Replacements {
  clock?: (database: Database) => DatabaseClock;
  foundation?: (database: Database) => Partial<Pick<Foundation, 'stores' | 'webhooks'>>;
  /** Whether sweeps run only when `sweep` is called, so that a test can observe the state without them. */
  sweepsByHand?: boolean;
  /** Intervals that differ from the default. */
  pace?: Partial<Pace>;
  /** The indexes that the start creates: none if the database already has all. */
  indexes?: readonly IndexDeclaration[];
  /** Schema versions in place of those of this build, to test upgrades. */
  schema?: Schema;
}

export type RunningServer = Awaited<ReturnType<typeof startServer>>;

/**
 * Starts the server: opens the database, creates the services, opens the listeners.
 * @throws Error if the database cannot be reached, if the master key does not open its keys, if processes of another environment
 * use it, or if a port is taken
 */
export async function startServer(config: Config, logger: Logger, replacements: Replacements = {}) {
  const addresses = await usableAddresses(config);
  const { schema = ownSchema } = replacements;
  const parts = await openDatabaseParts(config, logger, { ...replacements, schema });
  const { database, maintenance, engine, clock, background, sealing, keyring, processMetrics, tracing } =
    parts;
  const { client, db } = database;
  const lifecycle = createLifecycle();
  const listeners = createListeners([
    config.public.port,
    config.admin.port,
    ...client.options.hosts.map(({ port = 27_017 }) => port),
  ]);
  const pace = { ...defaultPace, ...replacements.pace };
  const processes = createProcesses({
    db,
    read: background.read,
    clock,
    roles: [...config.roles],
    masterKeys: sealing.masterKeys,
    sharedSettings: sharedSettingsOf(config),
    schema: schema.version,
    report: () => ({
      reasons: readiness.reasons().map(({ text }) => text),
      clockOffsetMs: Math.round(clock.offset()),
    }),
  });
  await processes.requireSameEnvironment();
  const services = createServices({
    ...parts,
    config,
    db,
    maintenance: maintenance.db,
    databaseFault: watchAvailability(client, clock.now),
    schema,
    processes,
    logger,
    adminToken: adminTokenOf(config),
    ownPorts: listeners.ports,
    pace,
    ...replacements.foundation?.(database),
  });
  // A new primary may not have all ledger pages that this process has cached.
  client.on('topologyDescriptionChanged', services.billing.forgetHeads);
  const tryWrite = createWriteProbe(processes.beat, { successLastsMs: pace.writesTestedEvery });
  const readiness = createReadiness({
    ...lifecycle,
    db,
    clock,
    tryWrite,
    logger,
    isStuck: services.capacity.isStuck,
    missingKeys: sealing.missing,
  });
  processMetrics.observeReadiness(readiness, clock);
  const periodic = { ...parts, schema, lifecycle, tryWrite, readiness, services, logger };
  const { heartbeat, keyReader, masterKeyReader, sweeper } = createPeriodicWork(periodic);
  const { serve } = listeners;
  const { billing } = services;
  const membership = createMembership({
    ...lifecycle,
    config,
    client,
    clock,
    background,
    processes,
    logger,
    serve,
    billing,
  });

  /** Opens the health listener. If its default port cannot be opened, as beside another process, this one runs without it. */
  async function serveHealth(app: Promise<HttpServer>, address: Address): Promise<void> {
    await serve(app, address).catch((err: unknown) => {
      if (!config.health?.byDefault) throw err;
      const { port } = address;
      logger.warn({ err, port }, 'no listener for metrics: SVC_HEALTH_PORT sets another port');
    });
  }

  clock.start();
  const context = { ...lifecycle, config, keyring, logger, readiness };
  // Until this function returns, a signal ends the process without a graceful stop. No request is served before that.
  const publicUrl = addresses.api && (await serve(createPublicApp(services, context), addresses.api));
  const adminUrl = addresses.admin && (await serve(createAdminApp(services, context), addresses.admin));
  if (addresses.health) await serveHealth(createHealthApp(services, context), addresses.health);
  // A unique index makes charges exactly-once, so nothing but keys is written before it exists.
  await awaitIndexes(maintenance.db, replacements.indexes ?? indexes, {
    note: lifecycle.noteStep,
    pause: () => sleep(indexRetryMs),
    logger,
    giveUp: (error) => (engine ? fullDiskFault(error, config.dataDir) : undefined),
  });
  // The first heartbeat lists this process, before it takes postings of others or sends webhooks. A process that cannot open a
  // listener is not listed, because it never serves.
  await membership.listen();
  await heartbeat.sweep();
  await membership.join();
  await services.webhooks.start();
  const forgetAdminAddress = adminUrl ? rememberAdminAddress(config.dataDir, adminUrl, logger) : undefined;
  // From here on it serves. Nothing is awaited before the return, so that a signal after this stops it gracefully.
  lifecycle.noteStep(undefined);
  // The second heartbeat lists it as ready, so that `svcadmin doctor` does not report a start that is over.
  for (const part of [heartbeat, keyReader, masterKeyReader]) void part.start();
  if (!replacements.sweepsByHand) void sweeper.start();

  return {
    /** The addresses of the listeners, without a trailing slash. Undefined if this process does not have the role. */
    publicUrl,
    adminUrl,
    embedded: engine !== undefined,
    /** All features of the server, for tests. */
    services,

    /** Runs one heartbeat and all sweeps once. */
    async sweep(): Promise<void> {
      for (const part of [heartbeat, keyReader, masterKeyReader, membership, sweeper]) await part.sweep();
    },

    /**
     * Stops the server. It is no longer ready, but still serves requests during the drain delay. Then it finishes the requests in
     * progress, and closes listeners, jobs and database in this order.
     */
    async stop(): Promise<void> {
      lifecycle.requestStop();
      await Promise.all([sleep(config.drainDelay), membership.leave()]);
      forgetAdminAddress?.();
      // First the requests end, then the jobs, then the writes that both have caused. The database is needed until then.
      await listeners.close();
      await Promise.all([sweeper, heartbeat, keyReader, masterKeyReader].map((part) => part.stop()));
      // If this fails, the list of processes drops this one when its last heartbeat is old.
      await processes.leave().catch(() => undefined);
      await services.webhooks.stop();
      await services.billing.drain();
      await services.wallets.drain();
      await Promise.all([services.admin.flush(), services.lastUses.flush(), services.status.flush()]);
      clock.stop();
      await Promise.all([client.close(), maintenance.client.close()]);
      await engine?.stop();
      await tracing?.stop();
    },
  };
}
