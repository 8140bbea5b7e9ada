import type { Db } from 'mongodb';
import type { FinishedSchema, SchemaView } from '../../../../contracts/admin/schema.ts';
import { listProcesses, processName } from '../../../../contracts/processes.ts';
import type { Clock } from '../../clock.ts';
import { ApiError } from '../../errors.ts';
import type { Processes } from '../../jobs/processes.ts';
import type { Actor } from '../audit/audit-entry.ts';
import { endDryRun } from '../audit/dry-run.ts';
import type { Sweep } from '../event-draft.ts';
import { dropIndex } from './indexes.ts';
import { createMigrator } from './migrations.ts';
import { endUpgrade, raisedSchemaRead, raiseSchema, readSchema, type Schema, switchForms } from './schema.ts';

interface Settings {
  db: Db;
  /** The same database through connections that wait for long scans. */
  maintenance: Db;
  schema: Pick<Schema, 'version' | 'migrations'>;
  processes: Pick<Processes, 'list'>;
  clock: Pick<Clock, 'now'>;
}

/** How long all processes need to notice a change of the schema's state, in milliseconds. */
const versionReadDelayMs = 60_000;
/**
 * How long codes of the version before matter, in milliseconds. A code can be exchanged for 10 minutes, and its token lives
 * for an hour. Five minutes are added as a margin.
 */
const oldFormLifetime = 75 * 60_000;

export type Upgrade = ReturnType<typeof createUpgrade>;

/**
 * Upgrades the database from one schema version to the next. First a build that knows both versions is started everywhere.
 * Online migrations run in the background. Then an operator finishes the upgrade; until then, the older build can still be
 * started. After that, final migrations change what the older build could not read, and unneeded indexes are dropped.
 */
export function createUpgrade({ db, maintenance, schema, processes, clock }: Settings) {
  const { version: newest, migrations } = schema;
  const migrator = createMigrator({ db: maintenance, clock });
  const online = migrations.filter(({ isFinal }) => !isFinal);
  const final = migrations.filter(({ isFinal }) => isFinal);
  const retired = migrations.flatMap(({ retiredIndexes = [] }) => retiredIndexes);

  /**
   * Removes the old form of records in two phases, after an operator has raised the version (`raisedAt`). First, records get the new
   * form, while processes still accept authorization codes in the old one. At `switchedAt`, they stop to accept these.
   * Each call does the work that is due.
   */
  async function removeOldForm(): Promise<void> {
    const { raisedAt, switchedAt } = await readSchema(db, newest);
    if (!raisedAt) return;
    const now = clock.now();
    const elapsedSince = (at: Date) => now - at.getTime();
    const hasEveryProcessNoticed = elapsedSince(switchedAt ?? raisedAt) >= versionReadDelayMs;
    if (!hasEveryProcessNoticed) return;

    if (!switchedAt) {
      // No process writes the old form any more, but codes in the old form may still be in use.
      await migrator.work(final);
      const areAllDone = (await migrator.states(final)).every(({ done }) => done);
      if (areAllDone && elapsedSince(raisedAt) >= oldFormLifetime) await switchForms(db, new Date(now));
      return;
    }
    // No process looks for the old form any more.
    for (const { collection, name } of retired) await dropIndex(maintenance, collection, name);
    await endUpgrade(db);
  }

  const sweep: Sweep = {
    name: 'migrations',
    look: () => ({
      reads: [raisedSchemaRead],
      isDue: (found) => online.length > 0 || found.flat().length > 0,
    }),
    async sweep() {
      await migrator.work(online);
      await removeOldForm();
    },
  };

  async function show(): Promise<SchemaView> {
    const [{ version, oldestBuild, raisedAt, forms }, states] = await Promise.all([
      readSchema(db, newest),
      migrator.states(migrations),
    ]);
    const areBothRead = raisedAt !== undefined && forms === 'both';
    // A database that was made by this version has no record of its migrations, but needs none of them.
    const migrationStates = forms === 'new' ? states.map((state) => ({ ...state, done: true })) : states;
    return {
      version,
      known: newest,
      oldestBuild: oldestBuild ?? null,
      forms,
      bothUntil: areBothRead ? new Date(raisedAt.getTime() + oldFormLifetime).toISOString() : null,
      migrations: migrationStates,
    };
  }

  async function requireNoOldProcess(): Promise<void> {
    const old = (await processes.list()).filter((process) => process.schema < newest);
    if (old.length === 0) return;
    const names = listProcesses(old.map((process) => processName(process, [process.build])));
    throw new ApiError('refused', {
      description: `Replace the processes that know no schema version ${newest} first: ${names}`,
    });
  }

  return {
    sweep,
    show,

    /**
     * Raises the schema version of the database to that of this build; older builds cannot use the database any more. While
     * documents in the old form are left, it only returns their number, and has to be called again.
     */
    async finish(actor: Pick<Actor, 'isDryRun'>): Promise<FinishedSchema> {
      await requireNoOldProcess();
      endDryRun(actor);
      const { version } = await readSchema(db, newest);
      const steps = online.filter(({ to }) => to > version);
      await migrator.restart(steps);
      await migrator.work(steps);
      const left = await migrator.countPending(steps);
      if (left > 0) return { ...(await show()), left };
      await raiseSchema(db, newest, new Date(clock.now()));
      // A process may have written the old form between the count and the new version.
      await migrator.restart(steps);
      return { ...(await show()), left: 0 };
    },
  };
}
