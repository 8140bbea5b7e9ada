import { sealedFields } from '../operations/schema/collections.ts';
import { createDatabaseClock, type DatabaseClock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import { masterKeysOf } from '../platform/config/local-secrets.ts';
import type { Database } from '../platform/database/connect.ts';
import { requireSchema, type Schema } from '../platform/database/schema/schema.ts';
import { readServerTime } from '../platform/database/server-clock.ts';
import { createBackground } from '../platform/jobs/background.ts';
import { loadKeyring } from '../platform/keys/keyring.ts';
import { requireMasterKeys } from '../platform/keys/sealed-values.ts';
import { createSealing } from '../platform/keys/sealing.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import { createProcessMetrics } from '../platform/telemetry/process-metrics.ts';
import { startTracing } from '../platform/telemetry/tracing.ts';
import { openDatabases } from './databases.ts';

interface Options {
  schema: Schema;
  /** Makes the clock; default: one that follows the database's. */
  clock?: ((database: Database) => DatabaseClock) | undefined;
}

/**
 * Opens the database, and what is read from it before anything else: its time, its schema version and the keys.
 * @throws Error if the database cannot be reached, has another schema, or if the master key does not open its keys
 */
export async function openDatabaseParts(
  config: Config,
  logger: Logger,
  { schema, clock: replacedClock }: Options,
) {
  const processMetrics = createProcessMetrics(config);
  const { traceEndpoint: endpoint, roles } = config;
  const tracing = endpoint === undefined ? undefined : await startTracing({ endpoint, roles });
  const opened = await openDatabases(config, { logger, processMetrics, tracing });
  const { database, maintenance } = opened;
  const { db, features } = database;
  const clock =
    replacedClock?.(database) ??
    createDatabaseClock({ readServerTime: () => readServerTime(db, features.sharded) });
  await requireSchema(maintenance.db, schema);
  await clock.measure();
  const sealing = createSealing(masterKeysOf(config));
  await requireMasterKeys(maintenance.db, sealedFields, sealing);
  const background = createBackground(db);
  const keyring = await loadKeyring(db, sealing, clock, background.read);
  return { ...opened, processMetrics, tracing, clock, sealing, background, keyring };
}

export type DatabaseParts = Awaited<ReturnType<typeof openDatabaseParts>>;
