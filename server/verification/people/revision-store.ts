import type { Collection, Filter, UpdateFilter } from 'mongodb';
import type { IndexDeclaration } from '../../platform/database/indexes.ts';

/** A record that codes were issued for. */
export interface Revisable {
  _id: string;
  /** When it was changed, until the claims snapshots in sessions are invalidated (an outbox). */
  reviseAt?: Date;
}

export interface Revisions<R extends Revisable> {
  /** Those changed before `before` whose sessions have not been told, as far as is known. */
  due(before: Date, limit: number): Promise<(R & Required<Revisable>)[]>;
  /** Its sessions know of the change at `reviseAt`; a later one stays due. */
  done(changed: Required<Revisable>): Promise<void>;
}

export const revisionIndex = (collection: string): IndexDeclaration => ({
  collection,
  key: { reviseAt: 1 },
  sparse: true,
});

export function revisionsOf<R extends Revisable>(records: Collection<R>): Revisions<R> {
  return {
    async due(before, limit) {
      const changed = { reviseAt: { $lte: before } } as unknown as Filter<R>;
      return (await records.find(changed).limit(limit).toArray()) as unknown as (R & Required<Revisable>)[];
    },

    async done({ _id, reviseAt }) {
      const same = { _id, reviseAt } as unknown as Filter<R>;
      await records.updateOne(same, { $unset: { reviseAt: '' } } as unknown as UpdateFilter<R>);
    },
  };
}
