import type { Db } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { insertMissing } from '../platform/database/write-groups.ts';
import { createGroupCommit } from '../platform/group-commit.ts';

const collection = 'revocations';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];

interface Revocation {
  _id: string;
  at: Date;
  purgeAt: Date;
}

/** Milliseconds; longer than an access lives and its grant is kept. */
const revocationRetentionMs = 31 * 86_400_000;

/** The `revocations` collection: accesses that ended before they expired, by the id of their charge. */
export function createRevocationStore(db: Db) {
  const revocations = db.collection<Revocation>(collection);

  return {
    /** Whether an access was revoked. Concurrent look-ups share one read. Never from a cache. */
    has: createGroupCommit<string, boolean>({
      async run(ids) {
        const found = await revocations
          .find({ _id: { $in: [...new Set(ids)] } }, { projection: { _id: 1 } })
          .toArray();
        const revoked = new Set(found.map(({ _id }) => _id));
        return ids.map((id) => revoked.has(id));
      },
    }),

    /** Revokes accesses. Idempotent. */
    add(ids: readonly string[], at: Date): Promise<void> {
      const purgeAt = new Date(at.getTime() + revocationRetentionMs);
      return insertMissing(
        revocations,
        ids.map((_id) => ({ _id, at, purgeAt })),
      );
    },
  };
}
export type RevocationStore = ReturnType<typeof createRevocationStore>;
