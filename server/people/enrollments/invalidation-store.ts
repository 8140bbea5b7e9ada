import type { Collection, Filter, UpdateFilter } from 'mongodb';
import { anyOf, type Read } from '../../platform/database/reads/joint-reads.ts';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';

/** A user or an enrollment. Sessions store a copy of it with their codes, the claims snapshot. */
export interface SnapshotOwner {
  _id: string;
  /** When the record changed. Present until the claims snapshots in its sessions are invalidated. */
  invalidateAt?: Date;
}

/** The index by which the sweep finds changed records. */
export const invalidationIndex = (collection: string): IndexDeclaration => ({
  collection,
  key: { invalidateAt: 1 },
  sparse: true,
});

const changedBy = (before: Date) => ({ invalidateAt: { $lte: before } });
/** Finds whether a record changed at `before` or earlier. */
export const invalidatedRead = (collection: string, before: Date): Read =>
  anyOf(collection, changedBy(before));

/**
 * Finds the users or enrollments that have changed while claims snapshots of them may still be valid. Filters and updates
 * are cast, because the driver's types cannot check the fields of a type parameter.
 */
export function invalidationsOf<R extends SnapshotOwner>(records: Collection<R>) {
  type Changed = R & Required<SnapshotOwner>;
  return {
    /** Records that changed at `before` or earlier. */
    async due(before: Date, limit: number): Promise<Changed[]> {
      const changed = changedBy(before) as unknown as Filter<R>;
      return (await records.find(changed).limit(limit).toArray()) as unknown as Changed[];
    },

    /** Marks the change at `invalidateAt` as done. A later change stays due. */
    async done({ _id, invalidateAt }: Required<SnapshotOwner>): Promise<void> {
      // After a later change, the record has another `invalidateAt`. Then nothing matches.
      const sameChange = { _id, invalidateAt } as unknown as Filter<R>;
      await records.updateOne(sameChange, { $unset: { invalidateAt: '' } } as unknown as UpdateFilter<R>);
    },
  };
}
