import { indexes } from '../operations/schema/collections.ts';
import { outdatedBy, type Schema } from '../platform/database/schema/schema.ts';
import { sweepExpired } from '../platform/database/sweep.ts';
import type { Readiness } from '../platform/http/endpoints/readiness.ts';
import { heartbeatEvery, type Processes } from '../platform/jobs/processes.ts';
import { createSweeper } from '../platform/jobs/sweeper.ts';
import { keyringReadEvery } from '../platform/keys/keyring.ts';
import { checkMasterKeys } from '../platform/keys/sealed-values.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { DatabaseParts } from './database-parts.ts';
import type { Lifecycle } from './lifecycle.ts';
import { sealedFields } from './wiring/sealed-fields.ts';
import type { Services } from './wiring/services.ts';

/** Milliseconds between two checks that this process has every master key that the database needs. */
const masterKeysCheckedEvery = 60_000;

interface Dependencies
  extends Pick<DatabaseParts, 'database' | 'maintenance' | 'clock' | 'keyring' | 'sealing'> {
  schema: Schema;
  lifecycle: Lifecycle;
  processes: Pick<Processes, 'beat'>;
  readiness: Pick<Readiness, 'check' | 'reasons'>;
  services: Services;
  logger: Logger;
}

/** The work that a process does again and again: its heartbeat, reading keys, and the sweeps of all features. */
export function createPeriodicWork(dependencies: Dependencies) {
  const { database, maintenance, clock, keyring, sealing } = dependencies;
  const { schema, lifecycle, processes, readiness, services, logger } = dependencies;
  // The embedded database does not delete expired documents by itself.
  const expiry = {
    name: 'expired documents',
    sweep: async () => {
      if (!database.features.expiresDocuments)
        await sweepExpired(database.db, indexes, new Date(clock.now()));
    },
  };
  const sweeper = createSweeper([...services.sweeps, expiry], logger);

  /**
   * Stops the work of this process if an upgrade of the database has made its build outdated. The process still runs, so that
   * `/readyz` tells operators the reason.
   */
  async function stopWorkIfOutdated(): Promise<void> {
    if (lifecycle.outdated() !== undefined) return;
    const reason = await outdatedBy(maintenance.db, schema.version);
    if (reason === undefined) return;
    lifecycle.becomeOutdated(reason);
    logger.fatal(`this process takes no more work, because its build is too old for the database: ${reason}`);
    await Promise.all([sweeper.stop(), services.webhooks.stop()]);
    await services.billing.drain();
    await services.wallets.drain();
  }

  const heartbeat = createSweeper(
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

  return { heartbeat, keyReader, masterKeyReader, sweeper };
}
