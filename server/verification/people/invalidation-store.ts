import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';

/** A record that codes were issued for. */
export interface SnapshotOwner {
  _id: string;
  /** When it was changed, until the claims snapshots in sessions are invalidated (an outbox). */
  reviseAt?: Date;
}

export interface Invalidations<R extends SnapshotOwner> {
  /** Those changed before `before` whose snapshots may not be invalidated yet. */
  due(before: Date, limit: number): Promise<(R & Required<SnapshotOwner>)[]>;
  /** The snapshots are invalidated for the change at `reviseAt`; a later one stays due. */
  done(changed: Required<SnapshotOwner>): Promise<void>;
}

export const invalidationIndex = (collection: string): IndexDeclaration => ({
  collection,
  key: { reviseAt: 1 },
  sparse: true,
});

export function invalidationsOf<R extends SnapshotOwner>(records: Collection<R>): Invalidations<R> {
  return {
    async due(before, limit) {
      const changed = { reviseAt: { $lte: before } } as unknown as Filter<R>;
      return (await records.find(changed).limit(limit).toArray()) as unknown as (R &
        Required<SnapshotOwner>)[];
    },

    async done({ _id, reviseAt }) {
      const same = { _id, reviseAt } as unknown as Filter<R>;
      await records.updateOne(same, { $unset: { reviseAt: '' } } as unknown as UpdateFilter<R>);
    },
  };
}
