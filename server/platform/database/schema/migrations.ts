import type { Collection, Db, Document, Filter } from 'mongodb';
import { unlessDuplicate } from '../failures.ts';
import { metaCollection } from '../meta.ts';

/** A change of documents. */
export interface Migration {
  name: string;
  /** The schema version that the migration belongs to. In a database of this version, documents have the new form. */
  to: number;
  collection: string;
  /** Matches documents in the old form, and no changed ones. */
  pending: Filter<Document>;
  /** The change, as stages of an update. */
  change: Document[];
  /**
   * Whether older builds cannot read the change. It then begins when no older build can run any more. Any other change runs while
   * older and newer builds serve, so both must read both forms.
   */
  isFinal?: true;
  /** Indexes that only the old form needs. They are dropped when no build uses the old form any more. */
  retiredIndexes?: readonly { collection: string; name: string }[];
}

interface Progress {
  _id: string;
  /** The `_id` after which the present pass continues; absent at the start of the pass. */
  after?: string;
  changed: number;
  /** Until then, no other process works on the migration. */
  leasedUntil: Date;
  doneAt?: Date;
}

export interface MigrationState {
  name: string;
  to: number;
  changed: number;
  done: boolean;
}

interface Settings {
  db: Db;
  clock: { now(): number };
  /** How many documents one command changes; default 500. */
  pageLength?: number;
  /** How long one call of `work` may take, in milliseconds; default 2,000. */
  budget?: number;
}

const leaseMs = 60_000;

/** Runs migrations page by page. Any process can continue where another one has stopped. */
export function createMigrator({ db, clock, pageLength = 500, budget = 2_000 }: Settings) {
  const meta: Collection<Progress> = db.collection<Progress>(metaCollection);
  const idOf = ({ name }: Migration) => `migration:${name}`;
  const documents = ({ collection }: Migration) => db.collection<{ _id: string }>(collection);

  /** Leases a migration to this process. Undefined if another process works on it, or if it is done. */
  async function lease(migration: Migration): Promise<Progress | undefined> {
    const now = clock.now();
    const free = { _id: idOf(migration), leasedUntil: { $lte: new Date(now) }, doneAt: { $exists: false } };
    // The filter excludes a leased or finished migration. The upsert then tries to insert a second document with its `_id`.
    const leased = await unlessDuplicate(
      meta.findOneAndUpdate(
        free,
        { $set: { leasedUntil: new Date(now + leaseMs) }, $setOnInsert: { changed: 0 } },
        { upsert: true, returnDocument: 'after' },
      ),
    );
    return leased ?? undefined;
  }

  /** Changes the next page. `lastId`: the last `_id` of the page; undefined if no page follows. */
  async function nextPage(migration: Migration, after: string | undefined) {
    const afterLast = after === undefined ? {} : { _id: { $gt: after } };
    const found = await documents(migration)
      .find({ $and: [migration.pending, afterLast] } as Filter<{ _id: string }>, { projection: { _id: 1 } })
      .sort({ _id: 1 })
      .limit(pageLength)
      .toArray();
    const ids = found.map(({ _id }) => _id);
    const changed = ids.length === 0 ? 0 : await change(migration, ids);
    return { changed, lastId: ids.length < pageLength ? undefined : ids.at(-1) };
  }

  /** @returns how many documents were changed */
  async function change(migration: Migration, ids: readonly string[]): Promise<number> {
    // The condition is checked again, because another build may have changed a document since.
    const old = { $and: [migration.pending, { _id: { $in: ids } }] } as Filter<{ _id: string }>;
    return (await documents(migration).updateMany(old, migration.change)).modifiedCount;
  }

  /** Continues a migration for `budget` milliseconds, unless another process works on it. */
  async function workOn(migration: Migration): Promise<void> {
    const leased = await lease(migration);
    if (!leased) return;
    const pauseAt = performance.now() + budget;
    let { after } = leased;
    for (;;) {
      const { changed, lastId } = await nextPage(migration, after);
      const isPaused = performance.now() >= pauseAt;
      await saveProgress(migration, { changed, lastId, isPaused });
      const wasLastPage = lastId === undefined;
      if (wasLastPage || isPaused) return;
      after = lastId;
    }
  }

  /** Saves the result of a page. Gives the lease back after the last page, and before a pause. */
  async function saveProgress(
    migration: Migration,
    { changed, lastId, isPaused }: { changed: number; lastId: string | undefined; isPaused: boolean },
  ): Promise<void> {
    const now = new Date(clock.now());
    const isDone = lastId === undefined;
    const leasedUntil = isDone || isPaused ? now : new Date(now.getTime() + leaseMs);
    const update = isDone
      ? { $set: { leasedUntil, doneAt: now }, $unset: { after: '' as const } }
      : { $set: { leasedUntil, after: lastId } };
    await meta.updateOne({ _id: idOf(migration) }, { $inc: { changed }, ...update });
  }

  return {
    /** Continues each unfinished migration for a short time. Call this repeatedly. */
    async work(migrations: readonly Migration[]): Promise<void> {
      for (const migration of migrations) await workOn(migration);
    },

    async states(migrations: readonly Migration[]): Promise<MigrationState[]> {
      const found = await meta.find({ _id: { $in: migrations.map(idOf) } }).toArray();
      return migrations.map((migration) => {
        const progress = found.find(({ _id }) => _id === idOf(migration));
        const { name, to } = migration;
        return { name, to, changed: progress?.changed ?? 0, done: progress?.doneAt !== undefined };
      });
    },

    /** Counts the documents in the old form. It reads whole collections. */
    async countPending(migrations: readonly Migration[]): Promise<number> {
      let pending = 0;
      for (const migration of migrations)
        pending += await documents(migration).countDocuments(migration.pending as Filter<{ _id: string }>);
      return pending;
    },

    /** Makes finished migrations run again, for documents that an older build wrote in the old form after they had ended. */
    async restart(migrations: readonly Migration[]): Promise<void> {
      const done = { _id: { $in: migrations.map(idOf) }, doneAt: { $exists: true } };
      await meta.updateMany(done, { $unset: { doneAt: '', after: '' } });
    },
  };
}
