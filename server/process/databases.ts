import type { EmbeddedDatabase } from '../../embedded-database/embedded.ts';
import type { Config } from '../platform/config/config.ts';
import { connect, type Database, longestScanMs } from '../platform/database/connect.ts';
import { isDiskFull } from '../platform/database/failures.ts';
import { StartFault } from '../platform/http/listen.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { ProcessMetrics } from '../platform/telemetry/process-metrics.ts';
import type { Tracing } from '../platform/telemetry/tracing.ts';

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

interface Observers {
  logger: Logger;
  processMetrics: ProcessMetrics;
  tracing: Tracing | undefined;
}

/** Opens two connections to the database: `database` for requests, `maintenance` for index builds and long scans. */
export async function openDatabases(
  config: Config,
  { logger, processMetrics, tracing }: Observers,
): Promise<{ database: Database; maintenance: Database; engine: EmbeddedDatabase | undefined }> {
  const engine = config.mongodbUri ? undefined : await startEmbedded(config.dataDir, logger);
  const target = {
    uri: engine?.uri ?? config.mongodbUri ?? '',
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
  const { features } = database;
  const maintenance = await connect({ ...target, features, answerWithinMs: longestScanMs });
  return { database, maintenance, engine };
}
