import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { type Access, erasedSub } from './access-store.ts';

/** Accesses that no code leads to. */
export const indexes: IndexDeclaration[] = [
  {
    collection: 'accesses',
    key: { enrollmentId: 1 },
    partialFilterExpression: { kind: 'checkbox' },
  },
];

interface Traces {
  /** Accesses that were bought with the person's codes. */
  ids: readonly string[];
  enrollmentIds: readonly string[];
}

/** Takes people out of the `accesses` collection; the charge that each record stands for stays. */
export function createAccessErasure(db: Db) {
  const accesses = db.collection<Access>('accesses');

  return {
    /** Ends the accesses and empties their claims. @returns how many there were */
    async erase({ ids, enrollmentIds }: Traces, at: Date): Promise<number> {
      const nothing = { claims_resolved: [], claims_null: [], claims_ignored: '$meta.claims_requested' };
      const { matchedCount } = await accesses.updateMany(
        {
          state: 'live',
          $or: [{ _id: { $in: [...ids] } }, { kind: 'checkbox', enrollmentId: { $in: [...enrollmentIds] } }],
        },
        [
          {
            $set: {
              sub: erasedSub,
              claims: { $literal: {} },
              meta: { $mergeObjects: ['$meta', nothing] },
              revokedAt: { $ifNull: ['$revokedAt', at] },
            },
          },
          { $unset: 'verificationLevel' },
        ],
      );
      return matchedCount;
    },
  };
}
