import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import type { Pace } from '../platform/config/pace.ts';
import type { ReadDatabaseFault } from '../platform/database/availability.ts';
import type { Database } from '../platform/database/connect.ts';
import type { Schema } from '../platform/database/schema.ts';
import type { Processes } from '../platform/jobs/processes.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { ProcessMetrics } from '../platform/telemetry/process-metrics.ts';
import type { Tracing } from '../platform/telemetry/tracing.ts';
import type { WebhookSettings } from '../webhooks/webhooks.ts';
import type { Stores } from './stores.ts';

/** What a process is made of. Everything that differs between a server, a test and a fault run is here. */
export interface Foundation {
  config: Config;
  db: Database['db'];
  /** The same database through connections that wait longer for an answer. */
  maintenance?: Database['db'];
  /** Why the database is unavailable, as far as known; undefined where it is available. */
  databaseFault?: ReadDatabaseFault;
  schema: Schema;
  clock: Clock;
  keyring: Keyring;
  sealing: Sealing;
  processes: Processes;
  logger: Logger;
  processMetrics: ProcessMetrics;
  tracing?: Tracing | undefined;
  /** Token of the first operator; undefined where it is retired. */
  adminToken: string | undefined;
  /** Ports that no webhook may reach by way of localhost: our own and the database's. */
  ownPorts: () => Iterable<number>;
  stores?: Partial<Stores>;
  /** Webhooks with their parts wrapped, or with shorter times. */
  webhooks?: Pick<WebhookSettings, 'wrap' | 'budget' | 'leaseTime'>;
  /** What differs from the usual. */
  pace?: Partial<Pace> | undefined;
}
