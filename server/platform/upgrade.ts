import type { Db } from 'mongodb';
import type { Clock } from './clock.ts';
import { dropIndex } from './database/indexes.ts';
import { createMigrator, type Migration, type MigrationState } from './database/migrations.ts';
import { raiseSchema, readSchema, schemaVersion } from './database/schema.ts';
import { ApiError } from './errors.ts';
import type { Sweep } from './event-draft.ts';
import type { Processes } from './processes.ts';

export interface UpgradeState {
  /** Of the documents in the database. */
  version: number;
  /** The newest one that this build knows. */
  known: number;
  oldestBuild: string | undefined;
  migrations: MigrationState[];
}

interface Settings {
  db: Db;
  /** The same database through connections that wait for long scans. */
  patient: Db;
  migrations: readonly Migration[];
  processes: Pick<Processes, 'list'>;
  clock: Pick<Clock, 'now'>;
}

export type Upgrade = ReturnType<typeof createUpgrade>;

/**
 * From one schema version to the next: a build that knows both is started everywhere, migrations run in the background, and then an
 * operator finishes it. Until then the version before can be started again.
 */
export function createUpgrade({ db, patient, migrations, processes, clock }: Settings) {
  const migrator = createMigrator({ db: patient, clock });

  const sweep: Sweep = { name: 'migrations', sweep: () => migrator.work(migrations) };

  async function show(): Promise<UpgradeState> {
    const [{ version, oldestBuild }, states] = await Promise.all([
      readSchema(db),
      migrator.states(migrations),
    ]);
    return { version, known: schemaVersion, oldestBuild, migrations: states };
  }

  async function requireNoOldProcess(): Promise<void> {
    const old = (await processes.list()).filter(({ schema }) => schema < schemaVersion);
    if (old.length === 0) return;
    const names = old.map(({ host, pid, build }) => `${pid} on ${host} (${build})`).join(', ');
    throw new ApiError('refused', {
      description: `Replace the processes that know no schema version ${schemaVersion} first: ${names}`,
    });
  }

  return {
    sweep,
    show,

    /**
     * Raises the schema version of the database to that of this build. Older builds cannot use it any more. To be repeated while
     * migrations are under way; it says how many documents are left.
     */
    async finish(): Promise<UpgradeState & { left: number }> {
      await requireNoOldProcess();
      const { version } = await readSchema(db);
      const steps = migrations.filter(({ to }) => to > version);
      await migrator.again(steps);
      await migrator.work(steps);
      const left = await migrator.left(steps);
      if (left > 0) return { ...(await show()), left };
      await raiseSchema(db, schemaVersion);
      // What a process wrote in the old form between the count and the new version.
      await migrator.again(steps);
      for (const { collection, name } of steps.flatMap(({ retiredIndexes = [] }) => retiredIndexes))
        await dropIndex(patient, collection, name);
      return { ...(await show()), left: 0 };
    },
  };
}
