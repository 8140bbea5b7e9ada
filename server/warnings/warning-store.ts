import type { Db, Filter } from 'mongodb';
import type { Total, Unpaged } from '../../contracts/admin/references.ts';
import type { ListWarnings } from '../../contracts/admin/warnings.ts';
import { duplicateKey } from '../platform/database/failures.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { readPage } from '../platform/database/pages.ts';
import type { Warning } from './warning.ts';

const collection = 'warnings';
const turns = 'warningTurns';

export const indexes: IndexDeclaration[] = [
  { collection, key: { partnerId: 1, since: -1, _id: -1 } },
  { collection, key: { since: -1, _id: -1 } },
  { collection, key: { open: 1, since: -1, _id: -1 } },
  { collection, key: { untold: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];

const isDuplicate = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === duplicateKey;

/** Returns the query of a filter. It includes only warnings that were raised, because only these are sent to partners. */
const conditionOf = ({ partnerId, state }: Unpaged<ListWarnings>): Filter<Warning> => ({
  ...(partnerId === undefined ? {} : { partnerId }),
  raisedAt: { $exists: true },
  ...(state === 'raised' ? { open: true as const } : {}),
  ...(state === 'over' ? { overAt: { $exists: true } } : {}),
});

/** The most open warnings that one check reads. */
const mostOpen = 5_000;

export type WarningStore = ReturnType<typeof createWarningStore>;

/** The `warnings` collection. The collection `warningTurns` has the time of the last check, so that one process checks at a time. */
export function createWarningStore(db: Db) {
  const warnings = db.collection<Warning>(collection);
  const last = db.collection<{ _id: string; at: Date }>(turns);

  return {
    /** Takes the turn for a check if the last check of any process was before `since`. @returns whether this process may check */
    async takeTurn(now: Date, since: Date): Promise<boolean> {
      try {
        const filter = { _id: 'last', at: { $lte: since } };
        const { matchedCount, upsertedCount } = await last.updateOne(
          filter,
          { $set: { at: now } },
          { upsert: true },
        );
        return matchedCount + upsertedCount > 0;
      } catch (error) {
        if (isDuplicate(error)) return false;
        throw error;
      }
    },

    /** Returns the warnings that are not over, whether they were raised or not. */
    open: (): Promise<Warning[]> => warnings.find({ open: true }).limit(mostOpen).toArray(),

    findAll: (ids: readonly string[]): Promise<Warning[]> =>
      warnings.find({ _id: { $in: [...ids] } }).toArray(),

    untold: (limit: number): Promise<Warning[]> =>
      warnings
        .find({ untold: { $in: ['raised', 'over'] } })
        .limit(limit)
        .toArray(),

    /** Returns warnings, the newest first. */
    async list({ limit, after, ...filter }: ListWarnings): Promise<Warning[]> {
      const last = after === undefined ? undefined : await warnings.findOne({ _id: after });
      return readPage(warnings, conditionOf(filter), { by: 'since', limit, after: last });
    },

    async count(filter: Unpaged<ListWarnings>): Promise<Total> {
      return { total: await warnings.countDocuments(conditionOf(filter)), exact: true };
    },

    /** Stores a warning if it is unchanged since it was read (`before`). @returns false if another process has changed it */
    async put(warning: Warning, before: Warning | undefined): Promise<boolean> {
      if (!before) {
        return warnings.insertOne(warning).then(
          () => true,
          (error: unknown) => {
            if (isDuplicate(error)) return false;
            throw error;
          },
        );
      }
      const { _id, ...replacement } = warning;
      const result = await warnings.replaceOne({ _id, revision: before.revision }, replacement);
      return result.matchedCount > 0;
    },

    async remove({ _id, revision }: Warning): Promise<void> {
      await warnings.deleteOne({ _id, revision });
    },

    async addMailed({ _id, untold }: Warning, address: string): Promise<void> {
      if (untold) await warnings.updateOne({ _id, untold }, { $addToSet: { mailed: address } });
    },

    /** Records that the state of a warning was sent to all recipients. */
    async markTold({ _id, untold }: Warning): Promise<void> {
      if (untold) await warnings.updateOne({ _id, untold }, { $unset: { untold: '' } });
    },
  };
}
