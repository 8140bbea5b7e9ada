import type { Db } from 'mongodb';
import { accessTokenLifetimeSeconds } from '../../contracts/oauth.ts';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import type { ShardDeclaration } from '../platform/database/sharding.ts';
import { updateEach } from '../platform/database/write-groups.ts';
import { createGroupCommit } from '../platform/group-commit.ts';

const collection = 'revocations';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];
/** Ids of charges are keyed hashes. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

interface Revocation {
  _id: string;
  at: Date;
  purgeAt: Date;
}

/** Milliseconds for which a revocation is kept. */
const retentionMs = {
  /** 10 minutes longer than a token lives: processes expire tokens by clocks of their own. */
  token: (accessTokenLifetimeSeconds + 600) * 1_000,
  /** Longer than grants are kept: until then an audit asks why this one is missing. */
  'removed grant': 31 * 86_400_000,
};

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

    /**
     * Revokes accesses. Idempotent.
     * @param of what ends: tokens alone, or accesses whose grants are removed too
     */
    async add(ids: readonly string[], at: Date, of: keyof typeof retentionMs): Promise<void> {
      const purgeAt = new Date(at.getTime() + retentionMs[of]);
      const update = { $setOnInsert: { at }, $max: { purgeAt } };
      const updates = ids.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } }));
      const { refused } = await updateEach(revocations, updates);
      for (const refusal of refused.values()) throw refusal;
    },
  };
}
export type RevocationStore = ReturnType<typeof createRevocationStore>;
