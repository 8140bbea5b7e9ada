import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';

/** A user or an enrollment. Sessions keep claims snapshots of it for their codes. */
export interface SnapshotOwner {
  _id: string;
  /** When the record changed. Present until the claims snapshots in its sessions are invalidated. */
  invalidateAt?: Date;
}

export interface Invalidations<R extends SnapshotOwner> {
  /** Records that changed before `before`, and whose claims snapshots may still be valid. */
  due(before: Date, limit: number): Promise<(R & Required<SnapshotOwner>)[]>;
  /** Marks the change at `invalidateAt` as done. A later change stays due. */
  done(changed: Required<SnapshotOwner>): Promise<void>;
}

export const invalidationIndex = (collection: string): IndexDeclaration => ({
  collection,
  key: { invalidateAt: 1 },
  sparse: true,
});

/**
 * Makes the store of the changes that are still due, for one collection of users or enrollments. Filters and updates are cast,
 * because the driver's types cannot check the fields of a type parameter.
 */
export function invalidationsOf<R extends SnapshotOwner>(records: Collection<R>): Invalidations<R> {
  return {
    async due(before, limit) {
      const changed = { invalidateAt: { $lte: before } } as unknown as Filter<R>;
      return (await records.find(changed).limit(limit).toArray()) as unknown as (R &
        Required<SnapshotOwner>)[];
    },

    async done({ _id, invalidateAt }) {
      // After a later change, the record has another `invalidateAt`. Then nothing matches.
      const sameChange = { _id, invalidateAt } as unknown as Filter<R>;
      await records.updateOne(sameChange, { $unset: { invalidateAt: '' } } as unknown as UpdateFilter<R>);
    },
  };
}
