import type { Clock } from '../platform/clock.ts';
import type { Config } from '../platform/config/config.ts';
import type { Pace } from '../platform/config/pace.ts';
import type { ReadDatabaseFault } from '../platform/database/availability.ts';
import type { Database } from '../platform/database/connect.ts';
import type { Schema } from '../platform/database/schema/schema.ts';
import type { Background } from '../platform/jobs/background.ts';
import type { Processes } from '../platform/jobs/processes.ts';
import type { Keyring } from '../platform/keys/keyring.ts';
import type { Sealing } from '../platform/keys/sealing.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { ProcessMetrics } from '../platform/telemetry/process-metrics.ts';
import type { Tracing } from '../platform/telemetry/tracing.ts';
import type { WebhookSettings } from '../webhooks/webhooks.ts';
import type { Stores } from './stores.ts';

/** The parts on which the features of a process are built. A server, a test and a fault run differ only in these parts. */
export interface Foundation {
  config: Config;
  db: Database['db'];
  /** The same database through connections with longer timeouts. */
  maintenance: Database['db'];
  databaseFault: ReadDatabaseFault;
  schema: Schema;
  clock: Clock;
  keyring: Keyring;
  sealing: Sealing;
  background: Background;
  processes: Processes;
  logger: Logger;
  processMetrics: ProcessMetrics;
  tracing: Tracing | undefined;
  /** The token of the first operator. Undefined if it is retired. */
  adminToken: string | undefined;
  /** Returns the ports on localhost that no webhook may reach: those of this server and of the database. */
  ownPorts: () => Iterable<number>;
  /** Stores that tests use in place of the usual ones. */
  stores?: Partial<Stores>;
  /** Settings of webhooks for tests: `wrap` replaces parts of their engine, and the times are shorter. */
  webhooks?: Pick<WebhookSettings, 'wrap' | 'budget' | 'leaseTime'>;
  pace: Pace;
}
