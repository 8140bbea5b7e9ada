import type { Db } from 'mongodb';
import { storedAnswerLifetimeSeconds } from '../../contracts/checkbox.ts';
import { accessTokenLifetimeSeconds } from '../../contracts/oauth.ts';
import { createGroupCommit } from '../platform/batching/group-commit.ts';
import type { IndexDeclaration } from '../platform/database/schema/indexes.ts';
import type { ShardDeclaration } from '../platform/database/schema/sharding.ts';
import { updateEach } from '../platform/database/write-groups.ts';

const collection = 'revocations';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];
/** The ids of charges are keyed hashes, which spread the revocations evenly over the shards. */
export const shardKey: ShardDeclaration = { collection, key: { _id: 1 } };

/** How long a revocation is kept, in milliseconds, by its reason. */
export const revocationRetentionMs = {
  /** 10 minutes longer than a token is valid, because the clocks of processes differ. */
  token: (accessTokenLifetimeSeconds + 600) * 1_000,
  /** An hour longer than the response of a checkbox can be repeated. No access is valid for longer. */
  'withdrawn consent': (storedAnswerLifetimeSeconds + 3_600) * 1_000,
  /** Longer than grants are kept. An audit of a charge without a grant finds in the revocation why it is missing. */
  'removed grant': 31 * 86_400_000,
};

/** The `revocations` collection: accesses that were revoked before they expired, by the id of their charge. */
export function createRevocationStore(db: Db) {
  const revocations = db.collection<{ _id: string; at: Date; purgeAt: Date }>(collection);

  /**
   * Returns when an access was revoked; undefined if it was not. Simultaneous calls share one read. Nothing is cached, so that a
   * revocation takes effect immediately.
   */
  const revokedAt = createGroupCommit<string, Date | undefined>({
    async run(ids) {
      const found = await revocations
        .find({ _id: { $in: [...new Set(ids)] } }, { projection: { at: 1 } })
        .toArray();
      const times = new Map(found.map(({ _id, at }) => [_id, at]));
      return ids.map((id) => times.get(id));
    },
  });

  return {
    revokedAt,

    has: async (id: string): Promise<boolean> => (await revokedAt(id)) !== undefined,

    /**
     * Revokes accesses. Idempotent.
     * @param reason decides how long the revocation is kept
     */
    async add(ids: readonly string[], at: Date, reason: keyof typeof revocationRetentionMs): Promise<void> {
      const purgeAt = new Date(at.getTime() + revocationRetentionMs[reason]);
      const update = { $setOnInsert: { at }, $max: { purgeAt } };
      const updates = ids.map((_id) => ({ updateOne: { filter: { _id }, update, upsert: true } }));
      const { refused } = await updateEach(revocations, updates);
      const [refusal] = refused.values();
      if (refusal) throw refusal;
    },
  };
}
export type RevocationStore = ReturnType<typeof createRevocationStore>;
