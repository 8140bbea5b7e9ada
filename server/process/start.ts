import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDatabaseClock, type DatabaseClock } from '../platform/clock.ts';
import { rememberAdminAddress } from '../platform/config/admin-address.ts';
import type { Config } from '../platform/config/config.ts';
import { adminTokenOf, masterKeysOf } from '../platform/config/local-secrets.ts';
import { defaultPace, type Pace } from '../platform/config/pace.ts';
import { watchAvailability } from '../platform/database/availability.ts';
import type { Database } from '../platform/database/connect.ts';
import { awaitIndexes, type IndexDeclaration } from '../platform/database/schema/indexes.ts';
import { outdatedBy, requireSchema, type Schema } from '../platform/database/schema/schema.ts';
import { readServerTime } from '../platform/database/server-clock.ts';
import { sweepExpired } from '../platform/database/sweep.ts';
import { createWriteProbe } from '../platform/database/write-probe.ts';
import { createReadiness } from '../platform/http/endpoints/readiness.ts';
import { type Address, hostInUrl, listenFault } from '../platform/http/listen.ts';
import type { HttpServer } from '../platform/http/server.ts';
import { createProcesses, heartbeatEvery } from '../platform/jobs/processes.ts';
import { createSweeper } from '../platform/jobs/sweeper.ts';
import { keyringReadEvery, loadKeyring } from '../platform/keys/keyring.ts';
import { checkMasterKeys, requireMasterKeys } from '../platform/keys/sealed-values.ts';
import { createSealing } from '../platform/keys/sealing.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createProcessMetrics } from '../platform/telemetry/process-metrics.ts';
import { startTracing } from '../platform/telemetry/tracing.ts';
import { usableAddresses } from './addresses.ts';
import { createAdminApp, createHealthApp, createPublicApp } from './app.ts';
import { fullDiskFault, openDatabases } from './databases.ts';
import { createMembership } from './membership.ts';
import type { Foundation } from './wiring/foundation.ts';
import { indexes } from './wiring/indexes.ts';
import { schema as ownSchema } from './wiring/schema.ts';
import { sealedFields } from './wiring/sealed-fields.ts';
import { createServices } from './wiring/services.ts';

/** How long to wait between two tries to create the indexes, in milliseconds. */
const indexRetryMs = 1_000;
/** Milliseconds between two checks that this process has every master key that the database needs. */
const masterKeysCheckedEvery = 60_000;
/** How long a stop waits for requests in progress, in milliseconds. */
const drainTimeoutMs = 8_000;

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

/** Opens a listener. @returns its URL. @throws StartFault if the address cannot be used */
async function listen(app: HttpServer, address: Address): Promise<string> {
  const { host, port } = address;
  await app.listen({ host, port }).catch((error: unknown) => {
    throw listenFault(error, address);
  });
  const { port: actual } = app.server.address() as AddressInfo;
  return `http://${hostInUrl(host)}:${actual}`;
}

/** Closes a listener after its requests have ended. Connections that take too long are closed. */
async function closeListener(app: HttpServer): Promise<void> {
  const cutOff = setTimeout(() => app.server.closeAllConnections(), drainTimeoutMs);
  await app.close();
  clearTimeout(cutOff);
}

/**
 * Starts the server: opens the database, creates the services, opens the listeners.
 * @throws Error if the database cannot be reached, if the master key does not open its keys, or if a port is taken
 */
export async function startServer(config: Config, logger: Logger, replacements: Replacements = {}) {
  const addresses = await usableAddresses(config);
  const processMetrics = createProcessMetrics(config);
  const { traceEndpoint: endpoint, roles } = config;
  const tracing = endpoint === undefined ? undefined : await startTracing({ endpoint, roles });
  const { database, maintenance, engine } = await openDatabases(config, { logger, processMetrics, tracing });
  const { client, db, features } = database;
  const clock =
    replacements.clock?.(database) ??
    createDatabaseClock({ readServerTime: () => readServerTime(db, features.sharded) });
  const { schema = ownSchema } = replacements;
  await requireSchema(maintenance.db, schema);
  await clock.measure();
  const sealing = createSealing(masterKeysOf(config));
  await requireMasterKeys(maintenance.db, sealedFields, sealing);
  const keyring = await loadKeyring(db, sealing, clock);
  const processes = createProcesses({
    db,
    clock,
    roles: [...config.roles],
    masterKeys: sealing.masterKeys,
    schema: schema.version,
    report: () => ({
      reasons: readiness.reasons().map(({ text }) => text),
      clockOffsetMs: Math.round(clock.offset()),
    }),
  });

  const listeners: HttpServer[] = [];
  /** Ports on localhost that no webhook may reach. */
  const ownPorts = [
    config.public.port,
    config.admin.port,
    ...client.options.hosts.map(({ port = 27_017 }) => port),
  ];
  const pace = { ...defaultPace, ...replacements.pace };
  const services = createServices({
    config,
    db,
    maintenance: maintenance.db,
    databaseFault: watchAvailability(client, clock.now),
    schema,
    clock,
    keyring,
    sealing,
    processes,
    logger,
    processMetrics,
    tracing,
    adminToken: adminTokenOf(config),
    ownPorts: () => ownPorts,
    pace,
    ...replacements.foundation?.(database),
  });
  // A new primary may not have all ledger pages that this process has cached.
  client.on('topologyDescriptionChanged', services.billing.forgetHeads);
  // The embedded database does not delete expired documents by itself.
  const expiry = {
    name: 'expired documents',
    sweep: async () => {
      if (!features.expiresDocuments) await sweepExpired(db, indexes, new Date(clock.now()));
    },
  };
  const sweeper = createSweeper([...services.sweeps, expiry], logger);
  let isStopRequested = false;
  const isStopping = () => isStopRequested;
  let startStep: string | undefined = 'the process is starting';
  const starting = () => startStep;
  /** Why this build must not use the database any more. */
  let outdatedReason: string | undefined;
  const outdated = () => outdatedReason;
  /** Returns the text for refused requests; undefined if requests are served. */
  const closed = () => {
    if (outdatedReason !== undefined) return 'The build of this process is too old for the database';
    return startStep === undefined ? undefined : 'This process is starting';
  };
  const pulse: ReturnType<typeof createSweeper> = createSweeper(
    [
      { name: 'readiness', sweep: async () => void (await readiness.check()) },
      { name: 'heartbeat', sweep: processes.beat },
      { name: 'status', sweep: () => services.status.record(readiness.reasons().length === 0) },
      { name: 'schema', sweep: stopWorkIfOutdated },
    ],
    logger,
    heartbeatEvery,
  );
  const keyReader = createSweeper([{ name: 'keyring', sweep: keyring.refresh }], logger, keyringReadEvery);
  const masterKeyReader = createSweeper(
    [{ name: 'master keys', sweep: () => checkMasterKeys(maintenance.db, sealedFields, sealing) }],
    logger,
    masterKeysCheckedEvery,
  );
  const tryWrite = createWriteProbe(processes.beat, { successLastsMs: pace.writesTestedEvery });
  const { billing, capacity } = services;
  const { isStuck } = capacity;
  const readiness = createReadiness({
    db,
    clock,
    tryWrite,
    isStopping,
    starting,
    outdated,
    logger,
    isStuck,
    missingKeys: sealing.missing,
  });
  processMetrics.observeReadiness(readiness, clock);
  const context = { config, keyring, logger, readiness, isStopping, closed };

  /**
   * Stops the work of this process if an upgrade of the database has made its build outdated. The process still runs, so that
   * `/readyz` tells operators the reason.
   */
  async function stopWorkIfOutdated(): Promise<void> {
    if (outdatedReason !== undefined) return;
    outdatedReason = await outdatedBy(maintenance.db, schema.version);
    if (outdatedReason === undefined) return;
    logger.fatal(
      `this process takes no more work, because its build is too old for the database: ${outdatedReason}`,
    );
    await Promise.all([sweeper.stop(), services.webhooks.stop()]);
    await services.billing.drain();
    await services.wallets.drain();
  }

  const membership = createMembership({
    config,
    client,
    clock,
    processes,
    logger,
    isStopping,
    outdated,
    serve,
    billing,
  });

  async function serve(app: Promise<HttpServer>, address: Address): Promise<string> {
    const server = await app;
    listeners.push(server);
    const url = await listen(server, address);
    // A listener that is configured with port 0 has got another one. URLs leave the port 80 out.
    ownPorts.push(Number(new URL(url).port || 80));
    return url;
  }

  /** Opens the health listener. If its default port cannot be opened, as beside another process, this one runs without it. */
  async function serveHealth(address: Address): Promise<void> {
    await serve(createHealthApp(services, context), address).catch((err: unknown) => {
      if (!config.health?.byDefault) throw err;
      const { port } = address;
      logger.warn({ err, port }, 'no listener for metrics: SVC_HEALTH_PORT sets another port');
    });
  }

  clock.start();
  // Until this function returns, a signal ends the process without a graceful stop. No request is served before that.
  const publicUrl = addresses.api && (await serve(createPublicApp(services, context), addresses.api));
  const adminUrl = addresses.admin && (await serve(createAdminApp(services, context), addresses.admin));
  if (addresses.health) await serveHealth(addresses.health);
  // A unique index makes charges exactly-once, so nothing but keys is written before it exists.
  await awaitIndexes(maintenance.db, replacements.indexes ?? indexes, {
    note(next) {
      startStep = next;
    },
    pause: () => sleep(indexRetryMs),
    logger,
    giveUp: (error) => (engine ? fullDiskFault(error, config.dataDir) : undefined),
  });
  // The first heartbeat lists this process, before it takes postings of others or sends webhooks.
  await pulse.sweep();
  await membership.join();
  await services.webhooks.start();
  startStep = undefined;
  const forgetAdminAddress = adminUrl ? rememberAdminAddress(config.dataDir, adminUrl, logger) : undefined;
  pulse.start();
  keyReader.start();
  masterKeyReader.start();
  if (!replacements.sweepsByHand) sweeper.start();

  return {
    /** The addresses of the listeners, without a trailing slash. Undefined if this process does not have the role. */
    publicUrl,
    adminUrl,
    embedded: engine !== undefined,
    /** All features of the server, for tests. */
    services,

    /** Runs one heartbeat and all sweeps once. */
    async sweep(): Promise<void> {
      for (const part of [pulse, keyReader, masterKeyReader, membership, sweeper]) await part.sweep();
    },

    /**
     * Stops the server. It is no longer ready, but still serves requests during the drain delay. Then it finishes the requests in
     * progress, and closes listeners, jobs and database in this order.
     */
    async stop(): Promise<void> {
      isStopRequested = true;
      await Promise.all([sleep(config.drainDelay), membership.leave()]);
      forgetAdminAddress?.();
      // First the requests end, then the jobs, then the writes that both have caused. The database is needed until then.
      await Promise.all(listeners.map(closeListener));
      await Promise.all([sweeper, pulse, keyReader, masterKeyReader].map((part) => part.stop()));
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
