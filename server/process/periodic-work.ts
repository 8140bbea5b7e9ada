import { indexes, sealedFields } from '../operations/schema/collections.ts';
import type { Sweep } from '../platform/database/event-draft.ts';
import { outdatedBy, type Schema } from '../platform/database/schema/schema.ts';
import { expiredReads, sweepExpired } from '../platform/database/sweep.ts';
import type { WriteProbe } from '../platform/database/write-probe.ts';
import type { Readiness } from '../platform/http/endpoints/readiness.ts';
import { heartbeatEvery } from '../platform/jobs/processes.ts';
import { createSweeper } from '../platform/jobs/sweeper.ts';
import { keyringReadEvery } from '../platform/keys/keyring.ts';
import { countSealed } from '../platform/keys/sealed-values.ts';
import type { Logger } from '../platform/telemetry/logging.ts';
import type { DatabaseParts } from './database-parts.ts';
import type { Lifecycle } from './lifecycle.ts';
import type { Services } from './wiring/services.ts';

/** Milliseconds between two checks that this process has every master key that the database needs. */
const masterKeysCheckedEvery = 60_000;

interface Dependencies
  extends Pick<DatabaseParts, 'database' | 'maintenance' | 'clock' | 'background' | 'keyring' | 'sealing'> {
  schema: Schema;
  lifecycle: Lifecycle;
  /** Writes the heartbeat. */
  tryWrite: WriteProbe;
  readiness: Pick<Readiness, 'check' | 'reasons'>;
  services: Services;
  logger: Logger;
}

/** The work that a process does again and again: its heartbeat, reading keys, and the sweeps of all features. */
export function createPeriodicWork(dependencies: Dependencies) {
  const { database, maintenance, clock, background, keyring, sealing } = dependencies;
  const { schema, lifecycle, tryWrite, readiness, services, logger } = dependencies;
  // The embedded database does not delete expired documents by itself.
  const expiry: Sweep = {
    name: 'expired documents',
    look: () => ({ reads: expiredReads(indexes, new Date(clock.now())) }),
    sweep: async () => void (await sweepExpired(database.db, indexes, new Date(clock.now()))),
  };
  const sweeps = database.features.expiresDocuments ? services.sweeps : [...services.sweeps, expiry];
  const sweeper = createSweeper(sweeps, { background, logger });

  /**
   * Stops the work of this process if an upgrade of the database has made its build outdated. The process still runs, so that
   * `/readyz` tells operators the reason.
   */
  async function stopWorkIfOutdated(): Promise<void> {
    if (lifecycle.outdated() !== undefined) return;
    const reason = await outdatedBy(background.read, schema.version);
    if (reason === undefined) return;
    lifecycle.becomeOutdated(reason);
    logger.fatal(`this process takes no more work, because its build is too old for the database: ${reason}`);
    await Promise.all([sweeper.stop(), services.webhooks.stop()]);
    await services.billing.drain();
    await services.wallets.drain();
  }

  async function beat(): Promise<void> {
    const fault = await tryWrite({ fresh: true });
    await readiness.check({ hasWritten: fault === undefined });
  }

  const heartbeat = createSweeper(
    [
      { name: 'schema', sweep: stopWorkIfOutdated },
      { name: 'heartbeat', sweep: beat },
      { name: 'status', sweep: () => services.status.record(readiness.reasons().length === 0) },
    ],
    { background, logger, every: heartbeatEvery },
  );
  const keyReader = createSweeper([{ name: 'keyring', sweep: keyring.refresh }], {
    ...{ background, logger },
    every: keyringReadEvery,
  });
  /** Tells `sealing` which master keys the values in the database are sealed under, so that it knows what this process lacks. */
  const noteMasterKeys = async () =>
    sealing.noteAll((await countSealed(maintenance.db, sealedFields)).keys());
  const masterKeyReader = createSweeper([{ name: 'master keys', sweep: noteMasterKeys }], {
    ...{ background, logger },
    every: masterKeysCheckedEvery,
  });

  return { heartbeat, keyReader, masterKeyReader, sweeper };
}
