import type { EmbeddedDatabase } from '../../embedded-database/embedded.ts';
import { sealedFields } from '../operations/schema/collections.ts';
import { createDatabaseClock, type DatabaseClock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import { masterKeysOf } from '../platform/config/local-secrets.ts';
import { connect, type Database, longestScanMs } from '../platform/database/connect.ts';
import { isDiskFull } from '../platform/database/failures.ts';
import { requireSchema, type Schema } from '../platform/database/schema/schema.ts';
import { readServerTime } from '../platform/database/server-clock.ts';
import { StartFault } from '../platform/http/listen.ts';
import { createBackground } from '../platform/jobs/background.ts';
import { loadKeyring } from '../platform/keys/keyring.ts';
import { requireMasterKeys } from '../platform/keys/sealed-values.ts';
import { createSealing } from '../platform/keys/sealing.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createProcessMetrics } from '../platform/telemetry/process-metrics.ts';
import { startTracing } from '../platform/telemetry/tracing.ts';

interface Options {
  schema: Schema;
  /** Makes the clock; default: one that follows the database's. */
  clock?: ((database: Database) => DatabaseClock) | undefined;
}

/** Starts the embedded engine. Its module is loaded only here, because a process with MONGODB_URI does not need it. */
async function startEmbedded(dataDir: string, logger: Logger): Promise<EmbeddedDatabase> {
  const embedded = await import('../../embedded-database/embedded.ts');
  return embedded.startEmbedded({ dataDir, logger });
}

/** Returns the fault of an embedded database whose disk is too full to make its indexes; undefined for any other error. */
export const fullDiskFault = (error: unknown, dataDir: string): StartFault | undefined =>
  isDiskFull(error)
    ? new StartFault(
        `The disk of ${dataDir} has less than 500 MB free, which the database needs to make its indexes: free some space, or set SVC_DATA_DIR to another directory.`,
        { cause: error },
      )
    : undefined;

/**
 * Opens two connections to the database, `database` for requests, `maintenance` for index builds and long scans, and reads what
 * is needed before anything else: its time, its schema version and the keys.
 * @throws Error if the database cannot be reached, has another schema, or if the master key does not open its keys
 */
export async function openDatabaseParts(
  config: Config,
  logger: Logger,
  { schema, clock: replacedClock }: Options,
) {
  const { traceEndpoint: endpoint, roles, mongodbUri, dataDir } = config;
  const processMetrics = createProcessMetrics(config);
  const tracing = endpoint === undefined ? undefined : await startTracing({ endpoint, roles });
  const engine = mongodbUri ? undefined : await startEmbedded(dataDir, logger);
  const target = {
    uri: engine?.uri ?? mongodbUri ?? '',
    embedded: engine !== undefined,
    appName: 'svc-gateway',
  };
  const database = await connect({
    ...target,
    logger,
    monitorCommands: tracing !== undefined,
    watch(client) {
      processMetrics.observeDatabase(client);
      tracing?.observeDatabase(client);
    },
  });
  const { db, features } = database;
  const maintenance = await connect({ ...target, features, answerWithinMs: longestScanMs });
  const clock =
    replacedClock?.(database) ??
    createDatabaseClock({ readServerTime: () => readServerTime(db, features.sharded) });
  await requireSchema(maintenance.db, schema);
  await clock.measure();
  const sealing = createSealing(masterKeysOf(config));
  await requireMasterKeys(maintenance.db, sealedFields, sealing);
  const background = createBackground(db);
  const keyring = await loadKeyring(db, sealing, clock, background.read);
  return { database, maintenance, engine, processMetrics, tracing, clock, sealing, background, keyring };
}

export type DatabaseParts = Awaited<ReturnType<typeof openDatabaseParts>>;
