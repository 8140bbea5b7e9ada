import { type Db, MongoBulkWriteError } from 'mongodb';
import type { IndexDeclaration } from '../platform/database/indexes.ts';
import { createStage } from '../platform/group-commit.ts';

const collection = 'revocations';
export const indexes: IndexDeclaration[] = [{ collection, key: { purgeAt: 1 }, expireAfterSeconds: 0 }];

interface Revocation {
  _id: string;
  at: Date;
  purgeAt: Date;
}

/** Milliseconds; longer than an access lives and its grant is kept. */
const keepFor = 31 * 86_400_000;
const duplicateKey = 11_000;

/** Whether a bulk insert failed for nothing but revocations that stand already. */
const onlyDuplicates = (error: unknown): boolean =>
  error instanceof MongoBulkWriteError &&
  [error.writeErrors].flat().every(({ code }) => code === duplicateKey) &&
  error.result.getWriteConcernError() === undefined;

/** The `revocations` collection: accesses that ended before they expired, by the id of their charge. */
export function createRevocationStore(db: Db) {
  const revocations = db.collection<Revocation>(collection);

  return {
    /** Whether an access was revoked; look-ups of the same moment are one read. Never from a cache. */
    has: createStage<string, boolean>({
      async run(ids) {
        const found = await revocations
          .find({ _id: { $in: [...new Set(ids)] } }, { projection: { _id: 1 } })
          .toArray();
        const revoked = new Set(found.map(({ _id }) => _id));
        return ids.map((id) => revoked.has(id));
      },
    }),

    /** Revokes accesses. Idempotent. */
    async add(ids: readonly string[], at: Date): Promise<void> {
      if (ids.length === 0) return;
      const purgeAt = new Date(at.getTime() + keepFor);
      try {
        await revocations.insertMany(
          ids.map((_id) => ({ _id, at, purgeAt })),
          { ordered: false },
        );
      } catch (error) {
        if (!onlyDuplicates(error)) throw error;
      }
    },
  };
}
export type RevocationStore = ReturnType<typeof createRevocationStore>;
