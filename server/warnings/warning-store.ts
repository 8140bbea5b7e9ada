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

/** Only those that a partner was, or will be, notified of. */
const conditionOf = ({ partnerId, state }: Unpaged<ListWarnings>): Filter<Warning> => ({
  ...(partnerId === undefined ? {} : { partnerId }),
  raisedAt: { $exists: true },
  ...(state === 'raised' ? { open: true as const } : {}),
  ...(state === 'over' ? { overAt: { $exists: true } } : {}),
});

/** Warnings that one look goes through. */
const mostOpen = 5_000;

export type WarningStore = ReturnType<typeof createWarningStore>;

/** The `warnings` collection, and in `warningTurns` the time of the last look: one process looks at a time. */
export function createWarningStore(db: Db) {
  const warnings = db.collection<Warning>(collection);
  const last = db.collection<{ _id: string; at: Date }>(turns);

  return {
    /** Whether this process has the turn: the last look of any process was before `since`. */
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

    /** Warnings that are not over, raised or not. */
    open: (): Promise<Warning[]> => warnings.find({ open: true }).limit(mostOpen).toArray(),

    findAll: (ids: readonly string[]): Promise<Warning[]> =>
      warnings.find({ _id: { $in: [...ids] } }).toArray(),

    untold: (limit: number): Promise<Warning[]> =>
      warnings
        .find({ untold: { $in: ['raised', 'over'] } })
        .limit(limit)
        .toArray(),

    /** Newest first. */
    async list({ limit, after, ...filter }: ListWarnings): Promise<Warning[]> {
      const last = after === undefined ? undefined : await warnings.findOne({ _id: after });
      return readPage(warnings, conditionOf(filter), { by: 'since', limit, after: last });
    },

    async count(filter: Unpaged<ListWarnings>): Promise<Total> {
      return { total: await warnings.countDocuments(conditionOf(filter)), exact: true };
    },

    /** Replaces a warning that is still as it was read; false where another process was faster. */
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

    /** Everything about this state has been sent. */
    async markTold({ _id, untold }: Warning): Promise<void> {
      if (untold) await warnings.updateOne({ _id, untold }, { $unset: { untold: '' } });
    },
  };
}
