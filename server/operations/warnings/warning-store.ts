import type { Db, Filter } from 'mongodb';
import type { Total, Unpaged } from '../../../contracts/admin/references.ts';
import type { ListWarnings } from '../../../contracts/admin/warnings.ts';
import { unlessDuplicate } from '../../platform/database/failures.ts';
import { limitInTurns } from '../../platform/database/reads/in-turns.ts';
import { anyOf, type Read } from '../../platform/database/reads/joint-reads.ts';
import { readPage } from '../../platform/database/reads/pages.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';
import { requireFound } from '../../platform/errors.ts';
import type { UnsentWarning, Warning } from './warning.ts';

export const collection = 'warnings';
const turnCollection = 'warningTurns';

export const indexes: IndexDeclaration[] = [
  { collection, key: { partnerId: 1, since: -1, _id: -1 } },
  { collection, key: { since: -1, _id: -1 } },
  { collection, key: { open: 1, since: -1, _id: -1 } },
  { collection, key: { untold: 1 }, sparse: true },
  { collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 },
];

/** Returns the query of a filter. It finds only warnings that were raised, because only these are sent to partners. */
function queryOf({ partnerId, state }: Unpaged<ListWarnings>): Filter<Warning> {
  const query: Filter<Warning> = { raisedAt: { $exists: true } };
  if (partnerId !== undefined) query.partnerId = partnerId;
  if (state === 'raised') query.open = true;
  if (state === 'over') query.overAt = { $exists: true };
  return query;
}

/** Finds whether a process has checked after a time. */
export const checkedRead = (lastCheckUntil: Date): Read =>
  anyOf(turnCollection, { _id: 'last', at: { $gt: lastCheckUntil } });

export type WarningStore = ReturnType<typeof createWarningStore>;

/** The `warnings` collection. `warningTurns` holds the time of the last check, so that only one process checks in each minute. */
export function createWarningStore(db: Db) {
  const warnings = db.collection<Warning>(collection);
  const lastCheck = db.collection<{ _id: string; at: Date }>(turnCollection);

  return {
    /**
     * Records a check at `now`, unless a process has checked after `lastCheckUntil`.
     * @returns whether this process may check
     */
    async takeTurn({ now, lastCheckUntil }: { now: Date; lastCheckUntil: Date }): Promise<boolean> {
      const filter = { _id: 'last', at: { $lte: lastCheckUntil } };
      // If the filter does not match the record of a later check, the upsert tries to insert a second record.
      const taken = await unlessDuplicate(
        lastCheck.updateOne(filter, { $set: { at: now } }, { upsert: true }),
      );
      return taken !== undefined;
    },

    /**
     * Returns the warnings that are not over. Some are not raised yet, because their problem has not lasted long enough. Each source
     * of warnings has a limit of problems, so there are not many.
     */
    findOpen: (): Promise<Warning[]> => warnings.find({ open: true }).toArray(),

    findAll: (ids: readonly string[]): Promise<Warning[]> =>
      warnings.find({ _id: { $in: [...ids] } }).toArray(),

    /**
     * Returns warnings whose present state was not sent to all recipients yet. Partners take turns, beginning with those whose id is
     * above `afterPartner`.
     */
    findUnsent: (limit: number, afterPartner: string): Promise<UnsentWarning[]> =>
      warnings
        .aggregate<UnsentWarning>([
          { $match: { untold: { $in: ['raised', 'over'] } } },
          { $set: { isLater: { $lte: ['$partnerId', afterPartner] } } },
          ...limitInTurns({ by: 'partnerId', sort: { _id: 1 }, owners: { isLater: 1, partnerId: 1 }, limit }),
          { $unset: 'isLater' },
        ])
        .toArray(),

    /** Returns warnings, the newest first. @throws ApiError `not_found` if the warning `after` does not exist */
    async list({ limit, after, ...filter }: ListWarnings): Promise<Warning[]> {
      const previous =
        after === undefined
          ? undefined
          : requireFound(await warnings.findOne({ _id: after }), `No warning ${after}`);
      return readPage(warnings, queryOf(filter), { by: 'since', limit, after: previous });
    },

    async count(filter: Unpaged<ListWarnings>): Promise<Total> {
      return { total: await warnings.countDocuments(queryOf(filter)), exact: true };
    },

    /**
     * Stores the next state of a warning, unless another process has stored one since `stored` was read.
     * @param stored the warning as it was read; undefined if it did not exist
     * @returns whether the state was stored
     */
    async put(warning: Warning, stored: Warning | undefined): Promise<boolean> {
      if (!stored) return (await unlessDuplicate(warnings.insertOne(warning))) !== undefined;
      const { _id, ...replacement } = warning;
      const result = await warnings.replaceOne({ _id, revision: stored.revision }, replacement);
      return result.matchedCount > 0;
    },

    /** Removes a warning, unless another process has changed it. */
    async remove({ _id, revision }: Warning): Promise<void> {
      await warnings.deleteOne({ _id, revision });
    },

    /** Records that a state was mailed to an address. Has no effect if the warning has another state by now. */
    async addMailed({ _id, untold }: UnsentWarning, addressHash: string): Promise<void> {
      await warnings.updateOne({ _id, untold }, { $addToSet: { mailed: addressHash } });
    },

    /** Records that a state was sent to all recipients. Has no effect if the warning has another state by now. */
    async markSent({ _id, untold }: UnsentWarning): Promise<void> {
      await warnings.updateOne({ _id, untold }, { $unset: { untold: '' } });
    },
  };
}
