import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../../platform/database/schema/indexes.ts';

/** The last permission to end an owner's role. A partner has one at a time, so two last owners cannot both lose the role. */
export interface OwnerEnd {
  /** The partner. */
  _id: string;
  memberId: string;
  /** The permission is valid for this revision of the member only, so every later change of the member ends it. */
  memberRevision: number;
  at: Date;
  /** Counts permissions. */
  revision: number;
}

const collection = 'ownerEnds';
export const indexes: IndexDeclaration[] = [];

export function createOwnerEndStore(db: Db) {
  const ends = db.collection<OwnerEnd>(collection);
  return {
    find: async (partnerId: string): Promise<OwnerEnd | undefined> =>
      (await ends.findOne({ _id: partnerId })) ?? undefined,

    /** Stores a permission. @returns false if another one was stored since `last` was read */
    async replace(
      last: OwnerEnd | undefined,
      { _id, ...next }: Omit<OwnerEnd, 'revision'>,
    ): Promise<boolean> {
      const count = last?.revision ?? 0;
      // Without a permission before, the first of two inserts wins; the other finds another revision.
      if (!last) await ends.updateOne({ _id }, { $setOnInsert: { revision: 0 } }, { upsert: true });
      const { matchedCount } = await ends.updateOne(
        { _id, revision: count },
        { $set: { ...next, revision: count + 1 } },
      );
      return matchedCount > 0;
    },
  };
}
